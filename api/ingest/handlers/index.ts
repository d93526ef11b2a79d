/**
 * Creates a handler for each kind of message. All handlers have the interface `Handler`. The pipeline finds the handler
 * by the kind of the topic.
 */

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
 * A message that was refused earlier and is stored now. Relative times count from the first receipt. The limits of age
 * and clock skew count from now.
 */
export interface Kept {
  payload: Buffer;
  /** content type from MQTT 5 */
  contentType?: string;
  /** time of the first receipt, epoch ms */
  receivedAt: number;
  /** present time, epoch ms */
  now: number;
  /**
   * whether this element was refused at the first attempt. Only such elements are stored now; null: all
   * elements are stored
   */
  isRefused: ((index: number) => boolean) | null;
}

/**
 * Handles messages of one kind. Both functions throw an error that refuses the whole message.
 * @template I null: the payload names the device
 */
export interface Handler<R extends Route, I extends Identity | null> {
  /** settles when the good elements are committed, and the refused elements are in a dead letter */
  handle: (message: Message, route: R, identity: I) => Promise<Outcome>;
  /**
   * settles when the good elements are committed. A birth or a status counts as one accepted element. A
   * second replay writes the same rows
   */
  replay: (kept: Kept, route: R, identity: I) => Promise<IngestResult>;
}

/** The services that know the devices. */
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

/** Handlers by the kind of their topics. */
export type Handlers = ReturnType<typeof createHandlers>;

/**
 * Writes the time at which a device was last seen, for messages without measurements. `MeasurementStore`
 * writes this time for messages with measurements.
 * @returns settles when the time is committed
 */
export type NoteLastSeen = (message: Message, identity: Identity) => Promise<void>;
