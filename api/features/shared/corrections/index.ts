/** Corrections as Kafka and `/changes` have them. */
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import type { AnnouncedItem } from '../../../ingest/outbox.ts';
import type { Correction } from '../../../store/corrections.ts';

export const correctionRecord = ({ id, revision, undoes, ...correction }: Correction): AnnouncedItem => ({
  key: correction.device,
  content: {
    id: uuidText(id),
    correction: correction.kind,
    accepted_at: Math.floor(revision / 1000),
    device_id: correction.device,
    sensor_ids: correction.sensors,
    from: correction.from,
    to: correction.to,
    samples: correction.samples,
    by: correction.by,
    reason: correction.reason,
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
