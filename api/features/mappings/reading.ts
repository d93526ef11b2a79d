import { MillraceError } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import type { Description } from './mapping.ts';

/** as `readTime` returns it, and its path in the payload */
export type Time = { ts: number | null | undefined; path: string };

export const SHARED =
  'has this name from another part of the topic or payload too; change the name in the mapping';

export class Reading {
  #batch;
  #isInvalid;
  /** paths in the payload, by index of the value */
  #paths: Array<{ value: string; ts: string }> = [];
  /** number of values, including those to skip or to ignore */
  found = 0;
  /** The rule and the path of the value, by name of the sensor. */
  #sources: Map<string, string> = new Map();
  described: Map<string, Description> = new Map();

  /** `isInvalid`: the value means that there is none */
  constructor(batch: MessageBatch, isInvalid: (sensor: string, value: number) => boolean) {
    this.#batch = batch;
    this.#isInvalid = isInvalid;
    batch.pathOf = (index, field) => this.#paths[index]?.[field === 'ts' ? 'ts' : 'value'] ?? '';
  }

  /** Counts a value that the mapping names. */
  countReceived() {
    this.#batch.countReceived(1);
  }

  /** Counts a value that is not stored, such as a text. */
  skip() {
    this.found++;
    this.#batch.skip();
  }

  /** Counts a value of a repeated message that belongs to the first message only. */
  skipRepeated() {
    this.countReceived();
    this.skip();
  }

  /** Counts a value that the mapping leaves out. A message that has only such values is not refused. */
  ignore() {
    this.found++;
  }

  /** `isShared`: another message gave another source this name; `rule`: the broken rule if `value` is null */
  add(
    {
      sensor,
      source,
      isShared,
      value,
      time,
      path,
      rule,
    }: {
      sensor: string | null;
      source: string;
      isShared: boolean;
      value: number | null;
      time: Time;
      path: string;
      rule: string;
    },
    describe: (sensor: string) => Description | null,
  ) {
    const index = this.#paths.length;
    if (index === MAX_SAMPLES_PER_MESSAGE) throw tooMany();
    this.found++;
    this.#paths.push({ value: path, ts: time.path });
    if (sensor === null) return this.#batch.refuse(index, 'bad_id', 'sensor', 'has no name of its sensor');
    if (value === null) return this.#batch.refuse(index, 'not_numeric', 'value', rule);
    if (this.#isInvalid(sensor, value)) return this.#batch.skip();
    const known = this.#sources.get(sensor);
    if (known === undefined) this.#sources.set(sensor, source);
    if (isShared || (known !== undefined && known !== source))
      return this.#batch.refuse(index, 'bad_id', 'sensor', `the sensor ${sensor.slice(0, 128)} ${SHARED}`);
    if (time.ts === null || Number.isNaN(time.ts)) return this.#batch.refuse(index, 'bad_timestamp', 'ts');
    if (time.ts === undefined) this.#batch.addRelative(index, sensor, 0, value);
    else this.#batch.add(index, sensor, time.ts, value);
    if (this.described.has(sensor)) return;
    const description = describe(sensor);
    if (description) this.described.set(sensor, description);
  }
}

export const tooMany = () =>
  new MillraceError('too_large', `more than ${MAX_SAMPLES_PER_MESSAGE} values; these are the most`);
