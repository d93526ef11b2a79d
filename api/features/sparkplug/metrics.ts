import { pathsOf } from '../../ingest/decode/index.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import type { Definitions } from './definition-book.ts';
import { type Metric, type Payload, signed, unsigned, type WireValue } from './payload.ts';

/** Of the fields of a payload, as the specification names them. */
export const PATHS = pathsOf((index) => `metrics[${index}]`, { sensor: 'name', ts: 'timestamp' });

/** Its number links a death to its birth (tck-id-payloads-nbirth-bdseq). */
const BD_SEQ = 'bdSeq';

/** A birth lists commands as metrics (tck-id-topics-nbirth-rebirth-metric), but they measure nothing. */
const COMMANDS = /^(Node|Device) Control\//;

export const isOfProtocol = (name: string): boolean => name === BD_SEQ || COMMANDS.test(name);

/**
 * Nulls, transient values, texts and bytes are skipped and counted. Arrays, data sets and templates are refused,
 * because skipping them could silently lose numbers. A historical value is stored like any other, because the time of
 * measurement decides which value is the latest.
 * @param definitions null: no birth is known
 * @param isDoubtful the message may be older than the birth. Then aliases that had another meaning in an earlier birth
 * are not used
 * @returns whether the birth defines all metrics of the message
 */
export function readMetrics(
  { metrics, timestamp }: Payload,
  definitions: Definitions | null,
  batch: MessageBatch,
  isDoubtful: boolean = false,
): boolean {
  batch.pathOf = PATHS;
  batch.keepsLast = true;
  batch.countReceived(metrics.length);
  let allKnown = true;
  for (const [index, metric] of metrics.entries()) {
    const alias = metric.alias ?? '';
    const isBelieved = !isDoubtful || definitions?.contested.has(alias) !== true;
    const name = metric.name ?? (isBelieved ? definitions?.names.get(alias) : undefined);
    const defined = name === undefined ? undefined : definitions?.datatypes.get(name);
    if (defined === undefined) allKnown = false;
    const datatype = metric.datatype || defined || metric.implied;
    const structure = structureOf(metric, datatype);
    if (structure !== null && !metric.isTransient) {
      const rule = `must be a number, and no ${structure}; send each number as a metric`;
      batch.refuse(index, 'not_numeric', 'value', rule);
    } else if (metric.value === null || metric.isTransient) batch.skip();
    else if (name !== undefined && isOfProtocol(name)) batch.skip();
    // If the type is unknown, a large integer cannot be distinguished from a negative one.
    else if (name === undefined) batch.refuse(index, 'unknown_sensor', ...namelessRule(metric));
    else if (!datatype) batch.refuse(index, 'unknown_sensor', 'datatype', 'must be given here or in a birth');
    else if (!isNumeric(datatype)) batch.skip();
    else addTo(batch, index, name, metric.timestamp ?? timestamp, toNumber(datatype, metric.value));
  }
  return allKnown;
}

/** Int8Array to DateTimeArray (Sparkplug 3.0, section 6.4.16). */
const isArray = (datatype: number) => datatype >= 22 && datatype <= 34;

/** Returns null if the value has no structure. */
function structureOf({ structure }: Metric, datatype: number): string | null {
  if (structure === 'bytes') return isArray(datatype) ? 'array' : null;
  return structure;
}

const namelessRule = ({ alias }: Metric): [field: string, rule: string] =>
  alias === null
    ? ['sensor', 'is missing, and there is no alias']
    : ['alias', 'must be one that a birth defines'];

/** By the specification every metric has a time (tck-id-payloads-name-birth-data-requirement). */
function addTo(batch: MessageBatch, index: number, name: string, ts: number | null, value: number) {
  if (ts === null) batch.addRelative(index, name, 0, value);
  else batch.add(index, name, ts, value);
}

export function bdSeqOf(metrics: Metric[]): number | null {
  const value = metrics.find(({ name }) => name === BD_SEQ)?.value;
  if (value === undefined || value === null) return null;
  const number = toNumber(UINT64, value);
  return Number.isSafeInteger(number) ? number : null;
}

/** Data types by their index (Sparkplug 3.0, section 6.4.16). */
const NAMES = [
  'Unknown',
  'Int8',
  'Int16',
  'Int32',
  'Int64',
  'UInt8',
  'UInt16',
  'UInt32',
  'UInt64',
  'Float',
  'Double',
  'Boolean',
  'String',
  'DateTime',
];

/** the data type of bdSeq */
export const UINT64 = 8;

/**
 * All other types are texts, bytes and structures.
 *
 * Integers are sent in unsigned fields of 32 or 64 bits, negative integers as two's complement. Libraries differ: some
 * send -1 of the type Int8 as 0xff, others as 0xffffffff, and a UInt32 may be sent in the field of 64 bits. So only the
 * bits of the declared type are read, from either field. A 64-bit integer beyond 2^53 is stored as the nearest double.
 * A DateTime is stored as epoch milliseconds.
 */
const TO_NUMBER: Map<number, (value: WireValue) => number> = new Map([
  [1, (value) => (low32(value) << 24) >> 24],
  [2, (value) => (low32(value) << 16) >> 16],
  [3, (value) => low32(value) | 0],
  [4, (value) => (typeof value === 'object' ? signed(value) : Number(value))],
  [5, (value) => low32(value) & 0xff],
  [6, (value) => low32(value) & 0xffff],
  [7, (value) => low32(value) >>> 0],
  [8, plain],
  [9, plain],
  [10, plain],
  [11, (value) => (plain(value) === 0 ? 0 : 1)],
  [13, plain],
]);

const low32 = (value: WireValue): number => (typeof value === 'object' ? value.low : Number(value));

/** An integer is read as unsigned. */
function plain(value: WireValue): number {
  return typeof value === 'object' ? unsigned(value) : Number(value);
}

export const isNumeric = (datatype: number): boolean => TO_NUMBER.has(datatype);

export const nameOf = (datatype: number): string => NAMES[datatype] as string;

/** The data type is numeric. */
export const toNumber = (datatype: number, value: WireValue): number =>
  (TO_NUMBER.get(datatype) as (value: WireValue) => number)(value);
