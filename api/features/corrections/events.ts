import { groupOf, uuidBytes, uuidText } from '../../../schema/ids.ts';
import type { Core } from '../../feature.ts';
import { type Channel, jsonMessage } from '../../http/index.ts';
import type { FindAnnounced } from '../../ingest/outbox.ts';
import type { Correction } from '../../store/corrections.ts';
import { parseTimeId, type Store } from '../../store/index.ts';
import { correctionItem, correctionRecord } from '../shared/corrections/index.ts';

/** The kind of the announcements of corrections in the outbox, and of their records in Kafka. */
export const KIND = 'correction';

/** The last level of the topic `iot/live/corrections`. */
const CHANNEL = 'corrections';

/** A message of so many sensors with the longest reason stays below the limit of live messages, 16 KiB. */
const SENSORS_PER_MESSAGE = 200;

export const CHANNELS = {
  corrections: {
    action: 'send',
    qos: 0,
    address: 'iot/live/corrections',
    title: 'Corrections, when all readers see them',
    description: `For live readers. Only Millrace may publish here. A correction of more than ${SENSORS_PER_MESSAGE} sensors has several messages with the same id. A lost message is not repeated; \`GET /corrections\` has all corrections.`,
    parameters: {},
    messages: {
      correction: jsonMessage('application/json', 'Correction', 'A correction of one device'),
    },
  },
} satisfies Record<string, Channel>;

/** A broker without access control lets any client publish. */
const readCorrection = (message: { id?: unknown; device_id?: unknown; sensor_ids?: unknown }) =>
  typeof message.id === 'string' && typeof message.device_id === 'string' && Array.isArray(message.sensor_ids)
    ? message
    : null;

export const createFind =
  ({ corrections }: Pick<Store, 'corrections'>): FindAnnounced =>
  async (text) => {
    const id = parseTimeId(text);
    const correction = id && (await corrections.find(id));
    return correction && correctionRecord(correction);
  };

/** Reports each correction to live readers, and to the feature that streams announcements. */
export function createEvents({ publishing: { live, stream }, ingest: { outbox }, store: { groups } }: Core) {
  const channel = live.channel(CHANNEL, readCorrection);
  channel.subscribe((message) => stream.sendEvent(KIND, message));

  return {
    async onCorrected(correction: Correction) {
      const announcement = {
        ...{ kind: KIND, id: uuidText(correction.id), group: groupOf(uuidBytes(correction.device), groups) },
        item: correctionRecord(correction),
      };
      // The correction is committed already.
      await outbox?.commit(announcement, async () => {});
      const item = correctionItem(correction);
      for (let at = 0; at < correction.sensors.length; at += SENSORS_PER_MESSAGE)
        channel.publish({ ...item, sensor_ids: correction.sensors.slice(at, at + SENSORS_PER_MESSAGE) });
    },
  };
}
