/** Corrections as clients get them. */
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import type { AnnouncedItem } from '../../../ingest/outbox.ts';
import type { Correction } from '../../../store/corrections.ts';

/** For Kafka. */
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

/** JSON for `/changes`, without its closing brace. */
export const correctionText = (correction: Correction): string =>
  JSON.stringify({ kind: 'correction', ...withTexts(correction) }).slice(0, -1);

/** For HTTP and live readers. */
export function correctionItem(correction: Correction) {
  const { correction: kind, ...members } = withTexts(correction);
  return { kind, ...members };
}

function withTexts(correction: Correction): Record<string, unknown> {
  const { content, times } = correctionRecord(correction);
  const texts = times.map((name) => [name, formatTime(Number(content[name]))]);
  return { ...content, ...Object.fromEntries(texts) };
}
