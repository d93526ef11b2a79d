import type { Mappings } from '../../../api/features/mappings/mappings.ts';
import { MessageDecoder } from '../../../api/ingest/decode/index.ts';

type Sample = [ms: number, value: number];

const DAY_MS = 86_400_000;

/** Reads one message by the mappings, without a database. @param receivedAt epoch ms */
export function readMapped(
  mappings: Mappings,
  topic: string,
  payload: Buffer,
  receivedAt: number = Date.now(),
) {
  const match = mappings.match(topic);
  if (!match) return null;
  const opened = match.mapping.open(match.levels, payload);
  if (!opened) return 'skipped';
  const { device } = opened;
  if (match.mapping.isDescription) return { device, describes: match.mapping.describe(opened) };
  const limits = { historyMs: 365 * DAY_MS, maxClockSkewMs: 300_000, relativeTimes: true };
  const batch = new MessageDecoder(limits).emptyBatch(receivedAt);
  const described = match.mapping.read(opened, batch);
  const units = [...described].flatMap(([sensor, { unit }]) => (unit === undefined ? [] : [[sensor, unit]]));
  return {
    device,
    values: Object.fromEntries(
      [...batch.sensors].map(([sensor, { times, values }]): [string, Sample[]] => [
        sensor,
        times.map((time, index) => [time, values[index] ?? Number.NaN]),
      ]),
    ),
    units: Object.fromEntries(units),
    skipped: batch.counts.skipped,
    refused: batch.refused,
  };
}

export function readSamples(...message: Parameters<typeof readMapped>) {
  const read = readMapped(...message);
  if (read === null || read === 'skipped' || 'describes' in read)
    throw new Error('The message has no samples.');
  return read;
}
