import { MillraceError } from '../../../common/errors.ts';
import { brokenNameRule } from '../../../schema/ids.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { JsonCursor } from './json-cursor.ts';
import type { MessageBatch } from './message-batch.ts';
import { PATHS } from './refusals.ts';

/** A time below this number of seconds is relative to now (RFC 8428, section 4.5.3). */
const RELATIVE_BELOW = 2 ** 28;

/** RFC 8428, section 4.4. A pack with a newer version is refused. */
const NEWEST_VERSION = 10;

/**
 * Reads SenML records (RFC 8428) of any encoding. Base fields apply to their record and all later records: the name of
 * a sensor is `bn + n`, its time `bt + t` in seconds, its value `bv + v`. `vb` is stored as 0 or 1. Texts and data
 * (`vs`, `vd`) are skipped and counted.
 * @throws `malformed`: a base field has a wrong type, or an unknown label ends in "_"
 */
export function readSenml(records: unknown[], batch: MessageBatch) {
  batch.pathOf = PATHS.senml;
  // `bv` is -0, because 0 + -0 is 0, which would change a value of -0.
  const base = { bn: '', bt: 0, bv: -0 };
  const { samples, skipped } = batch.counts;
  batch.countReceived(records.length);
  for (let index = 0; index < records.length; index++) {
    const record = records[index];
    if (record === null || typeof record !== 'object' || Array.isArray(record)) {
      batch.refuse(index, 'malformed');
      continue;
    }
    const fields = record as Record<string, unknown>;
    takeBase(index, fields, base);
    readRecord(index, fields, base, batch);
  }
  const isEmpty = batch.counts.samples === samples && batch.counts.skipped === skipped;
  // Without this refusal, Millrace would acknowledge a message and store no part of it.
  if (isEmpty && records.length > 0 && batch.refused.length === 0) {
    batch.countReceived(1);
    batch.refuse(0, 'not_numeric', undefined, 'must have a record with a value (v or vb)');
  }
}

function takeBase(
  index: number,
  fields: Record<string, unknown>,
  base: { bn: string; bt: number; bv: number },
) {
  for (const label in fields) {
    // A pack with an unknown label that ends in "_" must be refused as a whole (RFC 8428, section 4.4).
    if (label.charCodeAt(label.length - 1) === 95) {
      const rule = `has a label that must be understood and is not: ${JSON.stringify(label)}`;
      throw new MillraceError('malformed', rule, { path: PATHS.senml(index) });
    }
    const value = fields[label];
    if (label === 'bn')
      base.bn = typeof value === 'string' ? value : malformed(index, label, 'must be a text');
    else if (label === 'bt')
      base.bt = typeof value === 'number' ? value : malformed(index, label, 'must be a number');
    else if (label === 'bv')
      base.bv = typeof value === 'number' ? value : malformed(index, label, 'must be a number');
    else if (label === 'bver' && !(typeof value === 'number' && value <= NEWEST_VERSION)) {
      malformed(index, label, `must be a version up to ${NEWEST_VERSION}`);
    }
  }
}

function malformed(index: number, label: string, rule: string): never {
  throw new MillraceError('malformed', rule, { path: PATHS.senml(index, label) });
}

function readRecord(
  index: number,
  { n, t, v, vb, vs, vd, s }: Record<string, unknown>,
  { bn, bt, bv }: { bn: string; bt: number; bv: number },
  batch: MessageBatch,
) {
  const value = typeof v === 'number' ? bv + v : typeof vb === 'boolean' ? Number(vb) : null;
  if (value === null) {
    if (v !== undefined) batch.refuse(index, 'not_numeric', 'value');
    else if (vb !== undefined) batch.refuse(index, 'not_numeric', 'vb', 'must be true or false');
    else if (vs !== undefined || vd !== undefined || s !== undefined) batch.skip();
    else if (n !== undefined || t !== undefined) batch.refuse(index, 'not_numeric', 'value', 'is missing');
    // A record with base fields only contains no measurement.
    else batch.countReceived(-1);
    return;
  }
  if (n !== undefined && typeof n !== 'string') {
    return batch.refuse(index, 'bad_id', 'sensor', brokenNameRule(n));
  }
  if (t !== undefined && typeof t !== 'number') {
    return batch.refuse(index, 'bad_timestamp', 'ts', 'must be a number of seconds');
  }
  addSample(index, n === undefined ? bn : bn + n, t === undefined ? bt : bt + t, value, batch);
}

/** Name, seconds and value include the base fields. The seconds count from the epoch or from now. */
export function addSample(
  index: number,
  sensor: string,
  seconds: number,
  value: number,
  batch: MessageBatch,
) {
  // JSON.parse reads a number such as 1e999 as infinite.
  if (!Number.isFinite(seconds)) {
    return batch.refuse(index, 'bad_timestamp', 'ts', 'must be a finite number of seconds');
  }
  const ms = Math.round(seconds * 1000);
  if (seconds < RELATIVE_BELOW) batch.addRelative(index, sensor, ms, value);
  else batch.add(index, sensor, ms, value);
}

const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Labels as `JsonCursor.label` returns them. `bn` is `BASE | N`. */
const N = 0x6e;
const T = 0x74;
const U = 0x75;
const V = 0x76;
const BASE = 0x6200;

/** Bit in the set of fields that were read in a record. */
const VALUE_READ = 4;

/** `bv` begins as -0, like in `readSenml`. */
const blankState = () => ({ bn: '', bt: 0, bv: -0, n: '', t: 0, v: 0 });

type State = ReturnType<typeof blankState>;

/**
 * Reads common SenML JSON directly from the bytes, without an object per record. Common means: only the labels `n t v u
 * bn bt bv bu`, each once per record, a value in each record, and strings of plain ASCII. Measured on Node 20, decoding
 * only: 60 samples of one sensor take 6.9 µs, with JSON.parse 17.7 µs; 10 samples take 1.2 µs, with JSON.parse 2.8 µs.
 *
 * Returns false for unusual or invalid input. Then the caller clears the batch, and `readSenml` reads the payload and
 * reports errors.
 */
export function readCommonSenml(payload: Buffer, batch: MessageBatch): boolean {
  const cursor = new JsonCursor(payload, batch.names);
  if (!cursor.pass(OPEN_ARRAY)) return false;
  batch.pathOf = PATHS.senml;
  const state = blankState();
  let index = 0;
  do {
    if (index === MAX_SAMPLES_PER_MESSAGE || !readCommonRecord(cursor, state)) return false;
    const { bn, bt, bv, n, t, v } = state;
    addSample(index++, n === '' ? bn : bn + n, bt + t, bv + v, batch);
  } while (cursor.pass(COMMA));
  batch.countReceived(index);
  return cursor.pass(CLOSE_ARRAY) && Number.isNaN(cursor.peek());
}

function readCommonRecord(cursor: JsonCursor, state: State): boolean {
  if (!cursor.pass(OPEN_OBJECT)) return false;
  state.n = '';
  state.t = 0;
  let read = 0;
  do {
    const field = readCommonField(cursor, state);
    // `JSON.parse` uses the last of two fields with the same name, so this reader declines the record.
    if (field === 0 || read & field) return false;
    read |= field;
  } while (cursor.pass(COMMA));
  return cursor.pass(CLOSE_OBJECT) && (read & VALUE_READ) !== 0;
}

/** Returns the bit of the field, or 0 if it is declined. */
function readCommonField(cursor: JsonCursor, state: State): number {
  const label = cursor.label();
  switch (label) {
    case T:
      state.t = cursor.number();
      return Number.isNaN(state.t) ? 0 : 2;
    case V:
      state.v = cursor.number();
      return Number.isNaN(state.v) ? 0 : VALUE_READ;
    case BASE | T:
      state.bt = cursor.number();
      return Number.isNaN(state.bt) ? 0 : 32;
    case BASE | V:
      state.bv = cursor.number();
      return Number.isNaN(state.bv) ? 0 : 64;
    case N:
    case BASE | N: {
      const text = cursor.text();
      if (text === null) return 0;
      if (label === N) state.n = text;
      else state.bn = text;
      return label === N ? 1 : 16;
    }
    case U:
    case BASE | U:
      return cursor.passText() < 0 ? 0 : label === U ? 8 : 128;
    default:
      return 0;
  }
}
