/** The pipeline finds the handler of a message by the kind of its topic. */

import type { Identity } from '../../../schema/ids.ts';
import type { Context } from '../../observability/index.ts';
import type { Store } from '../../store/index.ts';
import type { DeviceQueue } from '../admission/index.ts';
import { AwaitingRegistration } from '../awaiting-registration.ts';
import type { DeadLetterBox } from '../dead-letter-box.ts';
import type { MessageDecoder } from '../decode/index.ts';
import type { IngestResult } from '../ingest-result.ts';
import type { Message, Outcome, Route } from '../pipeline.ts';
import type { Births } from '../registry/births.ts';
import type { Registry } from '../registry/index.ts';
import type { Events, Statuses } from '../registry/status.ts';
import type { Sparkplug } from '../sparkplug/index.ts';
import { createBirthHandler } from './birth.ts';
import { createMappedHandler } from './mapped.ts';
import type { MeasurementStore } from './measurement-store.ts';
import { createMeasurementHandler } from './measurements.ts';
import { createSparkplugHandler } from './sparkplug.ts';
import { createStatusHandler } from './status.ts';

export { MeasurementStore } from './measurement-store.ts';

/**
 * A message that was refused earlier and is stored now. Relative times count from the first receipt, the limits of age
 * and clock skew from now.
 */
export interface Kept {
  payload: Buffer;
  /** content type of MQTT 5 */
  contentType?: string;
  /** first receipt, epoch ms */
  receivedAt: number;
  /** epoch ms */
  now: number;
  /** Only elements that were refused at the first attempt are stored now. null: all are stored. */
  isRefused: ((index: number) => boolean) | null;
}

/** Both functions throw an error that refuses the whole message. `I` is null if the payload names the device. */
export interface Handler<R extends Route, I extends Identity | null> {
  /** Settles when the good elements are committed, and the refused ones are in a dead letter. */
  handle: (message: Message, route: R, identity: I) => Promise<Outcome>;
  /** A birth or a status counts as one accepted element. A second replay writes the same rows. */
  replay: (kept: Kept, route: R, identity: I) => Promise<IngestResult>;
}

export type Devices = {
  registry: Registry;
  births: Births;
  events: Events;
  statuses: Statuses;
  writeLastSeen: Store['write']['lastSeen'];
};

export function createHandlers(
  { clock, metrics }: Pick<Context, 'clock' | 'metrics'>,
  deps: {
    devices: Devices;
    decoder: MessageDecoder;
    measurements: MeasurementStore;
    deadLetters: DeadLetterBox;
    awaitingRegistration: AwaitingRegistration;
    queue: DeviceQueue;
    sparkplug: Sparkplug;
  },
) {
  const { devices, decoder, measurements: store, deadLetters, awaitingRegistration, queue } = deps;
  const { registry, writeLastSeen } = devices;
  const noteLastSeen: NoteLastSeen = async ({ retained, receivedAt }, identity) => {
    const device = registry.cache.peek(identity.id);
    if (device && !retained) await writeLastSeen(device, receivedAt);
  };
  const measurements = createMeasurementHandler({
    decoder,
    measurements: store,
    deadLetters,
    awaitingRegistration,
  });
  const status = createStatusHandler({ devices, noteLastSeen, awaitingRegistration });
  const mapped = createMappedHandler({
    devices,
    decoder,
    measurements: store,
    noteLastSeen,
    awaitingRegistration,
    deadLetters,
    queue,
    metrics,
  });
  const birth = createBirthHandler({
    devices,
    noteLastSeen,
    awaitingRegistration,
    deadLetters,
    others: { measurements, status, mapped },
    metrics,
  });
  const sparkplug = createSparkplugHandler({
    devices,
    sparkplug: deps.sparkplug,
    measurements: store,
    noteLastSeen,
    deadLetters,
    awaitingBirth: new AwaitingRegistration({ clock }),
    metrics,
  });
  return { measurements, birth, status, mapped, sparkplug };
}

export type Handlers = ReturnType<typeof createHandlers>;

/** Only messages without measurements need this. `MeasurementStore` writes the time for the others. */
export type NoteLastSeen = (message: Message, identity: Identity) => Promise<void>;
