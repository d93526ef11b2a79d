import { z } from 'zod';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import { BirthSensor, SCHEMAS, words } from '../../http/index.ts';
import { BUCKETS } from '../../observability/index.ts';

const session = z.unknown().optional().meta({
  description:
    'The time when the device connected, in epoch milliseconds or ISO 8601. It identifies the session and does not order sessions: the message that arrived last counts. Without a valid time it is the time of receipt.',
});

const Birth = z
  .looseObject({
    session,
    name: words,
    site: words,
    label: words,
    sensors: z.array(BirthSensor).max(MAX_SENSORS_PER_DEVICE).optional(),
  })
  .meta({
    description: 'The description of a device. Members that are left out stay unchanged.',
    examples: [
      {
        session: 1795680000000,
        name: 'My desk',
        site: 'home',
        sensors: [{ sensor_id: 'temperature', type: 'temperature', unit: 'Cel', interval_ms: 1000 }],
      },
    ],
  });

const Status = z
  .looseObject({ state: z.enum(['online', 'offline']), session })
  .meta({ examples: [{ state: 'online', session: 1795680000000 }] });

const LiveItems = z.array(SCHEMAS.LatestItem).min(1);

const { samples_per_s, refused_per_s, in_flight, window, window_limit, waiting, journal_ms, readers } =
  SCHEMAS.Stats.shape;

const ReadersAnnouncement = z
  .strictObject({ devices: z.array(z.string()).max(1000) })
  .meta({ description: 'The devices that readers of one process follow.' });

const StatsSnapshot = z
  .strictObject({
    samples_per_s,
    refused_per_s,
    in_flight,
    window,
    window_limit,
    waiting,
    journal_ms: journal_ms.optional(),
    readers,
    commits: z
      .array(
        z.tuple([
          z
            .int()
            .min(0)
            .max(BUCKETS - 1),
          z.int().positive(),
        ]),
      )
      .meta({
        description:
          'Histogram of the times from the receipt of messages to their commit: pairs of a bucket and a count. Bucket b has times from 2^(b / 16) to 2^((b + 1) / 16) microseconds.',
      }),
    health: SCHEMAS.ProcessHealth.omit({ client_id: true })
      .optional()
      .meta({ description: 'The health of the process. Snapshots of older versions have none.' }),
  })
  .meta({ description: 'The rates of one process over the last five seconds.' });

/** Only MQTT carries these messages of the core. */
export const MESSAGES = {
  BirthSensor,
  Birth,
  Status,
  LiveItems,
  StatsSnapshot,
  ReadersAnnouncement,
};
