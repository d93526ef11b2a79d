/** Corrections as Kafka and `/changes` have them. */
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import type { AnnouncedItem } from '../../../ingest/outbox.ts';
import type { Correction } from '../../../store/corrections.ts';

export const correctionRecord = ({ id, revision, undoes, ...given }: Correction): AnnouncedItem => ({
  key: given.device,
  content: {
    id: uuidText(id),
    correction: given.kind,
    accepted_at: Math.floor(revision / 1000),
    device_id: given.device,
    sensor_ids: given.sensors,
    from: given.from,
    to: given.to,
    samples: given.samples,
    by: given.by,
    reason: given.reason,
    undoes: undoes && uuidText(undoes),
  },
  times: ['accepted_at', 'from', 'to'],
});

/** JSON without its closing brace. */
export function correctionText(correction: Correction): string {
  const { content, times } = correctionRecord(correction);
  const texts = times.map((name) => [name, formatTime(Number(content[name]))]);
  return JSON.stringify({ kind: 'correction', ...content, ...Object.fromEntries(texts) }).slice(0, -1);
}
