import type { DeviceBytes } from '../../../../schema/ids.ts';
import { iteratePages, type Steps } from '../../../background/index.ts';
import type { AnnouncedKinds } from '../../../feature.ts';
import type { Store } from '../../../store/index.ts';
import type { RecordMaker } from '../record-maker.ts';
import type { OutRecord } from '../sender.ts';
import type { StreamStore } from '../store.ts';

/** Limit of devices that are completed concurrently. */
export const DEVICES_AT_ONCE = 8;

/** Each part of the completion needs these to read items and to send their records. */
export interface Sending {
  store: Pick<Store, 'devices' | 'fleet' | 'events' | 'deadLetters'>;
  streaming: StreamStore;
  announced: AnnouncedKinds;
  steps: Steps;
  records: RecordMaker;
  /** @throws if the process ends before Kafka has the records */
  mustSend: (records: OutRecord[]) => Promise<void>;
}

export const devicesOf = ({ streaming, steps }: Sending, group: number): AsyncIterable<DeviceBytes> =>
  iteratePages((after) => steps.run(() => streaming.devicePage(group, null, after)));
