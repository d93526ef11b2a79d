import { charsetOf, decodeText } from '../../../common/encodings.ts';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import { brokenNameRule } from '../../../schema/ids.ts';
import type { MessageBatch } from './message-batch.ts';

/** @throws `malformed`; `unknown_format`: the charset is unknown */
export function parseJson(payload: Buffer, contentType?: string): object {
  const content = parseJsonText(decodeText(payload, charsetOf(contentType)));
  if (content === null || typeof content !== 'object') {
    throw new MillraceError('malformed', 'must be an object or an array of objects');
  }
  return content;
}

/** Each element is the value of a sensor. */
const MAX_ELEMENTS = 100;

/** Phases and channels have a fixed order, but the order of objects usually has no meaning. */
export function brokenArrayRule(array: unknown[]): string | null {
  if (array.length > MAX_ELEMENTS)
    return `must not have more than ${MAX_ELEMENTS} elements; each would become a sensor`;
  const isNested = array.some((element) => element !== null && typeof element === 'object');
  return isNested ? 'must not be an array of objects or arrays; send an object with a name for each' : null;
}

export const NO_SENSOR_ID =
  'is missing; a measurement looks like {"sensor_id": "temperature", "value": 21.5}';

/**
 * `{"sensor_id", "ts", "value"}`, or an array of these. `ts` is epoch milliseconds (seconds if TS_UNIT is `s`) or ISO
 * 8601, in UTC without a zone. `true` is stored as 1, `false` as 0. Other members are skipped and counted.
 */
export function readPlain(elements: unknown[], batch: MessageBatch) {
  batch.countReceived(elements.length);
  for (let index = 0; index < elements.length; index++) readElement(index, elements[index], batch);
}

function readElement(index: number, element: unknown, batch: MessageBatch) {
  if (element === null || typeof element !== 'object') return batch.refuse(index, 'malformed');
  for (const member in element) {
    if (member === 'sensor_id' || member === 'value' || member === 'ts') continue;
    batch.countReceived(1);
    batch.skip();
  }
  const { sensor_id: sensor, ts, value } = element as Record<string, unknown>;
  if (typeof sensor !== 'string') {
    const rule = sensor === undefined ? NO_SENSOR_ID : brokenNameRule(sensor);
    return batch.refuse(index, 'bad_id', 'sensor', rule);
  }
  if (typeof value !== 'number' && typeof value !== 'boolean') {
    return batch.refuse(index, 'not_numeric', 'value', value === undefined ? 'is missing' : undefined);
  }
  if (ts === undefined) return batch.addRelative(index, sensor, 0, Number(value));
  const time = batch.timeOf(ts);
  if (time === null) return batch.refuseTime(index, ts);
  batch.add(index, sensor, time, Number(value));
}

/** A string of JSON stays as it is, a number such as `nan` is replaced. A string without a closing quote extends to the end. */
const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"?|[-+]?\b(?:nan|infinity|inf)\b/gis;

/** JSON.parse reads this text as Infinity, which the decoder refuses as a value. */
const INFINITE = '1e999';

/**
 * Firmware writes a value that it could not measure as `nan`, `NaN`, `-nan`, `inf` or `Infinity`, which JSON does not
 * have (RFC 8259, section 6). So a second attempt replaces each by an infinite number, and only this value is refused.
 * @throws `malformed`
 */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const finite = text.replace(STRING_OR_NOT_FINITE, (part) => (part.startsWith('"') ? part : INFINITE));
    try {
      // A second attempt at the same text would double the longest turn: 900,000 open brackets take 45 ms each time.
      if (finite !== text) return JSON.parse(finite);
    } catch {
      // The error of the first attempt is reported, because it has the position in the text of the sender.
    }
    throw new MillraceError('malformed', messageOf(error), { cause: error });
  }
}
