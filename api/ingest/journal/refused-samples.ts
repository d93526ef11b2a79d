import { OWN_TOPICS } from '../../../schema/topics.ts';
import { isRefusal } from '../../store/index.ts';
import type { DeadLetterBox } from '../dead-letter-box.ts';
import { refusalOf } from '../decode/refusals.ts';
import type { Device } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';

/** Of a dead letter. */
const MAX_SAMPLES = 1000;

/** @throws `error` if it is no refusal */
export type KeepRefused = (device: Device, series: Series[], error: unknown) => Promise<void>;

/** Acknowledged samples whose rows the database refuses become dead letters, as messages that were never sent. */
export const createKeepRefused =
  ({ deadLetters, clock }: { deadLetters: Pick<DeadLetterBox, 'put'>; clock: () => number }): KeepRefused =>
  async (device, series, error) => {
    if (!isRefusal(error)) throw error;
    const topic = `${OWN_TOPICS}${device.id}/measurements`;
    const samples = series.flatMap(({ known, times, values }) =>
      Array.from(times, (ts, index) => ({ sensor_id: known.id, ts, value: values[index] })),
    );
    for (let from = 0; from < samples.length; from += MAX_SAMPLES) {
      const payload = Buffer.from(JSON.stringify(samples.slice(from, from + MAX_SAMPLES)));
      await deadLetters.put({ topic, payload, receivedAt: clock() }, device.id, [
        refusalOf('rejected', error),
      ]);
    }
  };
