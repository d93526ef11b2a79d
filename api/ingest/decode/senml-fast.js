import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.js';
import { JsonCursor } from './json-cursor.js';
import { PATHS } from './refusals.js';
import { addSample } from './senml.js';

const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Labels, as their bytes; `bn` is BASE + N. */
const N = 0x6e;
const T = 0x74;
const U = 0x75;
const V = 0x76;
const BASE = 0x6200;

/** The fields of a record that were read already, one bit each. */
const VALUE_READ = 4;

/** What holds from its record on, and what a record says for itself. */
/** `bv` begins as in `readSenml`. */
const blankState = () => ({ bn: '', bt: 0, bv: -0, n: '', t: 0, v: 0 });

/** @typedef {ReturnType<typeof blankState>} State */

/**
 * SenML JSON as devices send it: records of `n t v u bn bt bv bu` alone, each at most once, each record with a value,
 * strings in plain ASCII. It is read straight from the bytes: no object is made of a record only to be thrown away.
 * Measured on Node 20, decoding alone: 60 samples of one sensor 6.9 µs, with JSON.parse 17.7; 10 samples 1.2, with it 2.8.
 *
 * Whatever is unusual or wrong it leaves to `readSenml`, which says what it is; here nothing is refused for its form.
 *
 * @param {Buffer} payload
 * @param {import('./message-batch.js').MessageBatch} batch to be emptied where this declines
 * @returns {boolean} false: declined
 */
export function readCommonSenml(payload, batch) {
  const cursor = new JsonCursor(payload);
  if (!cursor.pass(OPEN_ARRAY)) return false;
  batch.pathOf = PATHS.senml;
  const state = blankState();
  let index = 0;
  do {
    if (index === MAX_SAMPLES_PER_MESSAGE || !readRecord(cursor, state)) return false;
    const { bn, bt, bv, n, t, v } = state;
    addSample(index++, n === '' ? bn : bn + n, bt + t, bv + v, batch);
  } while (cursor.pass(COMMA));
  return cursor.pass(CLOSE_ARRAY) && Number.isNaN(cursor.peek());
}

/** @param {JsonCursor} cursor @param {State} state is changed @returns {boolean} false: declined */
function readRecord(cursor, state) {
  if (!cursor.pass(OPEN_OBJECT)) return false;
  state.n = '';
  state.t = 0;
  let read = 0;
  do {
    const field = readField(cursor, state);
    // Of two fields of one name the last would count.
    if (field === 0 || read & field) return false;
    read |= field;
  } while (cursor.pass(COMMA));
  return cursor.pass(CLOSE_OBJECT) && (read & VALUE_READ) !== 0;
}

/** @param {JsonCursor} cursor @param {State} state is changed @returns {number} the field's bit; 0: declined */
function readField(cursor, state) {
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
