import { LRUCache } from 'lru-cache';
import { type Identity, identifySensor } from '../../schema/ids.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../schema/rules.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { type Device, type Sensor, sensorOf } from './registry/cache.ts';

/** Also with a smaller MAX_CLOCK_SKEW, messages that arrive in the same ms need different instants. */
const MIN_AHEAD_MS = 1000;

/** A sensor takes about 150 bytes. */
const MAX_SENSORS = 100_000;

/**
 * The source of a message keeps it until the acknowledgement, and passes it with a redelivery. So the values of a
 * redelivery get the instants of the first delivery, and are stored only once.
 */
export interface Receipt {
  /** epoch ms from which the instants count; null: not decided yet */
  from: number | null;
}

/**
 * Each value of a sensor without a time gets its own instant: the next free ms of that sensor, in order of arrival.
 * With an equal instant, the second value would overwrite the first, which is already acknowledged.
 *
 * All values of a message count from one time. So its dead letter needs this time only, and a replay computes the same
 * instants. A sensor that sends more than one value per ms gets instants ahead of the clock, up to MAX_CLOCK_SKEW.
 * Beyond this limit its messages wait.
 *
 * Other ingest processes do not know the chosen instants. After a restart, the process continues after the newest
 * committed sample of each sensor.
 */
export class ReceiptTimes {
  #maxAheadMs;
  /** epoch ms */
  #receivedAt = 0;
  /** epoch ms of the newest instant, by the id of the sensor */
  #newest: LRUCache<string, number> = new LRUCache({ max: MAX_SENSORS });

  constructor({ maxAheadMs }: { maxAheadMs: number }) {
    this.#maxAheadMs = Math.max(maxAheadMs, MIN_AHEAD_MS);
  }

  /**
   * Relative times are moved with the others. `receipt` has a decided `from` in a redelivery and a replay.
   * @param batch is changed; its times count from `receivedAt`
   * @returns time in ms that the message must wait before it is stored
   */
  place(
    batch: MessageBatch,
    identity: Pick<Identity, 'id'>,
    device: Device | null | undefined,
    receivedAt: number,
    receipt: Receipt,
  ): number {
    if (!batch.untimed) return 0;
    const sensors = sensorsIn(batch.untimed, identity, device);
    if (receipt.from === null) receipt.from = this.#take(sensors, receivedAt);
    for (const { refs } of sensors.values()) {
      for (const { ref, after } of refs) batch.moveUntimed(ref, receipt.from - receivedAt + after);
    }
    return Math.max(0, receipt.from - receivedAt - this.#maxAheadMs);
  }

  /** Returns epoch ms from which the instants are free for all sensors. */
  #take(sensors: Map<string, UntimedSensor>, receivedAt: number): number {
    // The clock was set back. Without this reset the known instants would be ahead for a long time.
    if (receivedAt < this.#receivedAt - this.#maxAheadMs) {
      this.#newest.clear();
      this.#receivedAt = receivedAt;
    }
    this.#receivedAt = Math.max(this.#receivedAt, receivedAt);
    const farthest = receivedAt + this.#maxAheadMs + MAX_SAMPLES_PER_MESSAGE;
    let from = receivedAt;
    for (const [id, { known }] of sensors) {
      const committed = known?.ts ?? Number.NEGATIVE_INFINITY;
      // A committed sample beyond `farthest` was stored before the clock was set back, so it is ignored.
      const newest = this.#newest.get(id) ?? (committed <= farthest ? committed : 0);
      from = Math.max(from, newest + 1);
    }
    // A committed value with a time may lie in the range of the new instants. Moving past the value of one sensor may
    // hit the value of another sensor, so the loop repeats until no value is hit.
    for (let passed = Number.NaN; passed !== from; ) {
      passed = from;
      for (const { known, count } of sensors.values()) {
        const committed = known?.ts ?? 0;
        if (committed >= from && committed < from + count) from = committed + 1;
      }
    }
    for (const [id, { count }] of sensors) this.#newest.set(id, from + Math.max(count, 1) - 1);
    return from;
  }
}

interface UntimedSensor {
  known: Sensor | undefined;
  /** values without a time */
  count: number;
  /** `ref`: id or name as in the message; `after`: values of this sensor under the earlier reference */
  refs: Array<{ ref: string; after: number }>;
}

/** A message may name one sensor by its id and by its name. */
function sensorsIn(
  untimed: NonNullable<MessageBatch['untimed']>,
  identity: Pick<Identity, 'id'>,
  device: Device | null | undefined,
): Map<string, UntimedSensor> {
  const sensors: Map<string, UntimedSensor> = new Map();
  for (const [ref, { count }] of untimed) {
    const known = device ? sensorOf(device, ref) : undefined;
    // An invalid name belongs to no sensor. Its values are refused later.
    const id = known?.id ?? identifySensor(identity.id, ref)?.id;
    if (id === undefined) continue;
    const sensor = sensors.get(id);
    if (!sensor) sensors.set(id, { known, count, refs: [{ ref, after: 0 }] });
    else {
      sensor.refs.push({ ref, after: sensor.count });
      sensor.count += count;
    }
  }
  return sensors;
}
