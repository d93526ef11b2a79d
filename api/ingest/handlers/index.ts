/**
 * Creates a handler for each kind of message. All handlers have the interface `Handler`. The pipeline finds the handler
 * by the kind of the topic.
 */
import { AwaitingRegistration } from '../awaiting-registration.js';
import { createBirthHandler } from './birth.js';
import { createMappedHandler } from './mapped.js';
import { createMeasurementHandler } from './measurements.js';
import { createSparkplugHandler } from './sparkplug.js';
import { createStatusHandler } from './status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Context } from '../../observability/index.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { DeviceQueue } from '../admission/index.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Message, Outcome, Route } from '../pipeline.js' */
/** @import { Births } from '../registry/births.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Events, Statuses } from '../registry/status.js' */
/** @import { Sparkplug } from '../sparkplug/index.js' */
/** @import { MeasurementStore } from './measurement-store.js' */

export { MeasurementStore } from './measurement-store.js';

/**
 * A message that was refused earlier and is stored now. Relative times count from the first receipt. The limits of age
 * and clock skew count from now.
 *
 * @typedef {object} Kept
 * @property {Buffer} payload
 * @property {string} [contentType] content type from MQTT 5
 * @property {number} receivedAt time of the first receipt, epoch ms
 * @property {number} now present time, epoch ms
 * @property {((index: number) => boolean) | null} isRefused whether this element was refused at the first
 *   attempt. Only such elements are stored now; null: all elements are stored
 */

/**
 * Handles messages of one kind. Both functions throw an error that refuses the whole message.
 *
 * @template {Route} R
 * @template {Identity | null} I null: the payload names the device
 * @typedef {object} Handler
 * @property {(message: Message, route: R, identity: I) => Promise<Outcome>} handle
 *   settles when the good elements are committed, and the refused elements are in a dead letter
 * @property {(kept: Kept, route: R, identity: I) => Promise<IngestResult>} replay settles when the good elements are
 *   committed. A birth or a status counts as one accepted element. A second replay writes the same rows
 */

/**
 * The services that know the devices.
 *
 * @typedef {{ registry: Registry, births: Births, events: Events, statuses: Statuses, writeLastSeen: Store['write']['lastSeen'] }} Devices
 */

/**
 * @param {Pick<Context, 'clock' | 'metrics'>} context
 * @param {object} deps
 * @param {Devices} deps.devices
 * @param {MessageDecoder} deps.decoder
 * @param {MeasurementStore} deps.measurements
 * @param {DeadLetterBox} deps.deadLetters
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @param {DeviceQueue} deps.queue
 * @param {Sparkplug} deps.sparkplug
 */
export function createHandlers({ clock, metrics }, deps) {
  const { devices, decoder, measurements: store, deadLetters, awaitingRegistration, queue } = deps;
  const { registry, writeLastSeen } = devices;
  /** @type {NoteLastSeen} */
  const noteLastSeen = async ({ retained, receivedAt }, identity) => {
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

/** Handlers by the kind of their topics. @typedef {ReturnType<typeof createHandlers>} Handlers */

/**
 * Writes the time at which a device was last seen, for messages without measurements. `MeasurementStore`
 * writes this time for messages with measurements.
 *
 * @callback NoteLastSeen
 * @param {Message} message
 * @param {Identity} identity
 * @returns {Promise<void>} settles when the time is committed
 */
