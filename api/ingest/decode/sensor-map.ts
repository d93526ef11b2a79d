import { MillraceError } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { withoutMarks, withPart } from '../../../schema/sensor-names.ts';
import { brokenArrayRule, NO_SENSOR_ID } from './json.ts';
import type { MessageBatch } from './message-batch.ts';

/** nested objects around a value, including the message itself */
const MAX_DEPTH = 8;

const NO_NUMBER = 'has no number; a map of sensors looks like {"temperature": 21.5, "humidity": 40}';
const TOO_DEEP = `must not be in more than ${MAX_DEPTH} objects`;
const NUMBER_AS_TEXT = 'must be a number, without quotation marks';

const NO_TIME = 'must be a time in s, ms, µs or ns, or ISO 8601';

/** Names of the time, but names of sensors in a map with `ts`. */
const OTHER_TIMES = ['time', 'timestamp'];

/** Shelly devices send a time of day or an empty text in `time`. Without a date it cannot be the time of measurements. */
const TIME_OF_DAY = /^(?:\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?)?$/i;

/** The sender of a number as text meant a value, so it is refused and not skipped. */
const NUMERIC = /^\s*[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?\s*$/i;

/**
 * An object with `sensor_id` is one measurement. With `value`, `n` or `bn` it also is one, but lacks its sensor or is
 * outside a pack of SenML. Read as a map, the values of all sensors would be stored under one name.
 */
export const isSensorMap = (element: unknown): element is Record<string, unknown> =>
  element !== null &&
  typeof element === 'object' &&
  !Array.isArray(element) &&
  !('sensor_id' in element || 'value' in element || 'n' in element || 'bn' in element);

/**
 * Reads `{"ts", "temperature": 21.5, "battery": {"level": 80}}`, or an array of these. Keys of nested objects, and
 * indexes of arrays, are joined by dots: `battery.level`. `true` is stored as 1, `false` as 0. Other texts and `null`
 * are skipped. Without `ts` the time is a number or text named `time` or `timestamp`, but not a time of day. The size
 * of a number shows whether it is in s, ms, µs or ns.
 *
 * A refusal names a value, and not the whole object. So a replay of one refused value stores only that value.
 * @throws `too_large`: too many values
 */
export function readSensorMaps(elements: unknown[], batch: MessageBatch, isArray: boolean) {
  const reader = new MapReader(batch, isArray);
  for (let element = 0; element < elements.length; element++) reader.read(element, elements[element]);
}

class MapReader {
  #batch;
  /** names of values, by the index of the value in the message */
  #names: string[] = [];
  /** Each element has at least one value, which may be refused. */
  #firstValues: number[] = [];
  #timeKey = 'ts';
  /** keys of the time by element, where the key is not `ts` */
  #timeKeys: string[] = [];
  /** raw time of the current element */
  #ts: unknown = undefined;
  /** epoch ms of the current element; null: it is not valid */
  #time: number | null = null;

  constructor(batch: MessageBatch, isArray: boolean) {
    this.#batch = batch;
    batch.pathOf = (index, field) => {
      const element = isArray ? this.#firstValues.findLastIndex((first) => first <= index) : 0;
      const own =
        field === 'ts' ? (this.#timeKeys[element] ?? field) : withoutMarks(String(this.#names[index]));
      const name = field === 'sensor_id' ? field : own;
      const begin = isArray ? `[${element}]` : '';
      return begin === '' || name === '' ? begin + name : `${begin}.${name}`;
    };
  }

  read(element: number, content: unknown) {
    this.#firstValues.push(this.#names.length);
    if (content === null || typeof content !== 'object' || Array.isArray(content)) {
      this.#batch.countReceived(1);
      return this.#batch.refuse(this.#count(''), 'malformed');
    }
    if (!isSensorMap(content)) {
      this.#batch.countReceived(1);
      return this.#batch.refuse(this.#count(''), 'bad_id', 'sensor_id', NO_SENSOR_ID);
    }
    this.#timeKey = timeKeyOf(content);
    if (this.#timeKey !== 'ts') this.#timeKeys[element] = this.#timeKey;
    this.#ts = content[this.#timeKey];
    this.#time = this.#ts === undefined ? null : this.#batch.timeBySize(this.#ts);
    const before = this.#names.length;
    this.#readMembers(content, null, 1);
    if (this.#names.length === before) {
      this.#batch.countReceived(1);
      this.#batch.refuse(this.#count(''), 'not_numeric', undefined, NO_NUMBER);
    }
  }

  /** `parent` null: the object is the element */
  #readMembers(object: object, parent: string | null, depth: number) {
    // An object from `JSON.parse` inherits no enumerable member. `Object.entries` takes 0.1 µs longer for an object of one value.
    for (const key in object) {
      const value = (object as Record<string, unknown>)[key];
      const isTime = depth === 1 && key === this.#timeKey && (typeof value !== 'object' || value === null);
      if (isTime) continue;
      const name = withPart(parent, key);
      if (typeof value === 'object' && value !== null) {
        this.#readNested(value, name, depth);
        continue;
      }
      this.#batch.countReceived(1);
      if (typeof value === 'number' || typeof value === 'boolean') this.#add(name, Number(value));
      else if (typeof value === 'string' && NUMERIC.test(value))
        this.#refuse(name, 'not_numeric', NUMBER_AS_TEXT);
      else this.#batch.skip();
    }
  }

  /** `depth` of the object around the value */
  #readNested(value: object, name: string, depth: number) {
    const broken = Array.isArray(value) ? brokenArrayRule(value) : null;
    if (broken === null && depth < MAX_DEPTH) return this.#readMembers(value, name, depth + 1);
    this.#batch.countReceived(1);
    if (broken === null) this.#refuse(name, 'malformed', TOO_DEEP);
    else this.#refuse(name, 'not_numeric', broken);
  }

  #add(sensor: string, value: number) {
    const index = this.#count(sensor);
    if (this.#ts === undefined) this.#batch.addRelative(index, sensor, 0, value);
    else if (this.#time !== null) this.#batch.add(index, sensor, this.#time, value);
    else if (typeof this.#ts === 'number') this.#batch.refuse(index, 'bad_timestamp', 'ts', NO_TIME);
    else this.#batch.refuseTime(index, this.#ts);
  }

  #refuse(name: string, code: 'malformed' | 'not_numeric', rule: string) {
    this.#batch.refuse(this.#count(name), code, undefined, rule);
  }

  /** Returns the index of the value in the message. An empty name is the element itself. @throws `too_large` */
  #count(name: string): number {
    const index = this.#names.length;
    if (index === MAX_SAMPLES_PER_MESSAGE) {
      throw new MillraceError('too_large', `${MAX_SAMPLES_PER_MESSAGE} values are the most`);
    }
    this.#names.push(name);
    return index;
  }
}

/** `ts` if the content has no time */
function timeKeyOf(content: Record<string, unknown>): string {
  if ('ts' in content) return 'ts';
  return OTHER_TIMES.find((name) => isTime(content[name])) ?? 'ts';
}

/** A device without a clock may send null or an empty text, and `time` may be an object of sensors. */
const isTime = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && !TIME_OF_DAY.test(value.trim()));
