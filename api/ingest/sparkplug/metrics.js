import { PATHS } from '../decode/refusals.js';
import { isNumeric, toNumber, UINT64 } from './datatypes.js';

/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { Definitions } from './definition-book.js' */
/** @import { Metric } from './payload/metric.js' */
/** @import { Payload } from './payload/payload.js' */

/** The number by which a death finds its birth (tck-id-payloads-nbirth-bdseq). */
const BD_SEQ = 'bdSeq';

/** Commands that a node offers (tck-id-topics-nbirth-rebirth-metric): a birth shows them, and they measure nothing. */
const COMMANDS = /^(Node|Device) Control\//;

/** @param {string} name @returns {boolean} whether the metric belongs to the protocol, not to what is measured */
export const isOfProtocol = (name) => name === BD_SEQ || COMMANDS.test(name);

/**
 * Reads the values of a message into the batch. Nulls, transient values, texts and structures are skipped and counted.
 * A historical value is a measurement as any other: what is latest is decided by when it was measured.
 *
 * @param {Payload} payload
 * @param {Definitions | null} definitions of the birth that holds for it; null: none is known
 * @param {MessageBatch} batch
 * @returns {boolean} whether its birth has told of all of its metrics
 */
export function readMetrics({ metrics, timestamp }, definitions, batch) {
  batch.pathOf = PATHS.sparkplug;
  let allKnown = true;
  for (const [index, metric] of metrics.entries()) {
    const name = metric.name ?? definitions?.names.get(metric.alias ?? '');
    const defined = name === undefined ? undefined : definitions?.datatypes.get(name);
    if (defined === undefined) allKnown = false;
    const datatype = metric.datatype || defined || metric.implied;
    if (metric.value === null || metric.isTransient) batch.skip();
    else if (name !== undefined && isOfProtocol(name)) batch.skip();
    // Without a type a large integer cannot be told from a negative one.
    else if (name === undefined) batch.refuse(index, 'unknown_sensor', ...namelessRule(metric));
    else if (!datatype)
      batch.refuse(index, 'unknown_sensor', 'datatype', 'is told neither here nor by a birth');
    else if (!isNumeric(datatype)) batch.skip();
    else addTo(batch, index, name, metric.timestamp ?? timestamp, toNumber(datatype, metric.value));
  }
  return allKnown;
}

/** @param {Metric} metric without a name that is known @returns {[field: string, rule: string]} */
const namelessRule = ({ alias }) =>
  alias === null
    ? ['sensor', 'is missing, and there is no alias']
    : ['alias', 'must be one that a birth defines'];

/**
 * @param {MessageBatch} batch
 * @param {number} index
 * @param {string} name
 * @param {number | null} ts epoch ms; every metric of an edge node has one (tck-id-payloads-name-birth-data-requirement)
 * @param {number} value
 */
function addTo(batch, index, name, ts, value) {
  if (ts === null) batch.addRelative(index, name, 0, value);
  else batch.add(index, name, ts, value);
}

/**
 * @param {Metric[]} metrics
 * @returns {number | null} null: there is none
 */
export function bdSeqOf(metrics) {
  const value = metrics.find(({ name }) => name === BD_SEQ)?.value;
  if (value === undefined || value === null) return null;
  const number = toNumber(UINT64, value);
  return Number.isSafeInteger(number) ? number : null;
}
