import { MillraceError } from '../../../common/errors.js';
import { AwaitingRegistration } from '../awaiting-registration.js';
import { arrivalOf } from '../registry/sessions.js';
import { createEvents, createStatuses, readStatus } from '../registry/status.js';
import { createSparkplug } from '../sparkplug/index.js';
import { createBirthHandler } from './birth.js';
import { createMappedHandler } from './mapped.js';
import { createSparkplugHandler } from './sparkplug.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Births } from '../registry/births.js' */
/** @import { ClockNotices } from '../registry/clock-notices.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { DeviceQueue } from '../backpressure/queue.js' */
/** @import { EdgeTopic, Topic } from '../../../schema/topics.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { IngestPipeline, Message, Outcome, Send } from '../pipeline.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Mappings } from '../mappings/index.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Outbox } from '../outbox.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { Statuses } from '../registry/status.js' */
/** @import { Store } from '../../store/index.js' */

/**
 * A refused message that is stored now. Its relative times count from its first receipt. Its age counts from now.
 *
 * @typedef {object} Kept
 * @property {Buffer} payload
 * @property {string} [contentType] MQTT 5
 * @property {number} receivedAt epoch ms
 * @property {number} now epoch ms
 * @property {((index: number) => boolean) | null} isRefused whether this element was refused at the first attempt. Only such elements are stored now; null: all are
 */

/**
 * Handles messages of one kind. Both functions throw an error that refuses the whole message.
 *
 * @template {Topic} [T=Topic]
 * @typedef {object} Handler
 * @property {(message: Message, identity: Identity, topic: T) => Promise<Outcome>} handle
 *   settles when the good elements are committed, and the refused ones are in a dead letter
 * @property {(kept: Kept, identity: Identity, topic: T) => Promise<IngestResult>} replay settles when the good elements are
 *   committed. A birth or a status counts as one accepted element. Replaying twice writes the same rows
 */

/**
 * Handlers of all messages that are not measurements on topics of the contract: births, statuses, all Sparkplug messages, and messages
 * on mapped topics.
 *
 * @param {object} deps
 * @param {Config} deps.config
 * @param {Store} deps.store
 * @param {Retry} deps.retry
 * @param {Registry} deps.registry
 * @param {Births} deps.births
 * @param {ClockNotices} deps.clocks
 * @param {MessageDecoder} deps.decoder
 * @param {IngestPipeline} deps.measurements
 * @param {DeadLetterBox} deps.deadLetters
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @param {Mappings} deps.mappings
 * @param {DeviceQueue} deps.deviceQueue
 * @param {Send} deps.send
 * @param {Outbox | null} deps.outbox
 * @param {() => number} deps.clock epoch ms
 * @param {Metrics} deps.metrics
 */
export function createHandlers(deps) {
  const {
    config,
    store,
    retry,
    registry,
    births,
    clocks,
    decoder,
    measurements,
    deadLetters,
    awaitingRegistration,
    mappings,
    deviceQueue,
    send,
    outbox,
  } = deps;
  const { clock, metrics } = deps;
  const { historyDays } = config.retention;
  const events = createEvents({
    store: store.events,
    retry,
    outbox,
    groups: config.retention.latestGroups,
  });
  const statuses = createStatuses({ registry, store: store.registry, retry, events, clocks });
  /** @type {NoteLastSeen} */
  const noteLastSeen = async ({ retained, receivedAt }, identity) => {
    const device = registry.cache.peek(identity.id);
    if (device && !retained) await store.write.lastSeen(device, receivedAt);
  };
  const status = createStatusHandler({ registry, statuses, noteLastSeen, awaitingRegistration });
  const mapped = createMappedHandler({
    registry,
    births,
    decoder,
    measurements,
    noteLastSeen,
    awaitingRegistration,
    deadLetters,
    deviceQueue,
    metrics,
  });
  const birth = createBirthHandler({
    registry,
    births,
    events,
    statuses,
    noteLastSeen,
    awaitingRegistration,
    measurements,
    mappings,
    mapped,
    status,
    deadLetters,
    metrics,
  });
  const host = createSparkplug({
    store: store.sparkplug,
    registry,
    decoder,
    retry,
    send,
    historyDays,
    maxMessageBytes: config.ingest.maxMessageBytes,
    clock,
    metrics,
  });
  const sparkplug = createSparkplugHandler({
    sparkplug: host,
    awaitingBirth: new AwaitingRegistration({ clock }),
    metrics,
    registry,
    births,
    statuses,
    events,
    measurements,
    noteLastSeen,
    deadLetters,
  });
  const handlers = { birth, status };

  return {
    /** Messages on mapped topics. */
    mapped,

    /** Notes that a device which was offline has sent a measurement. */
    prove: statuses.prove,

    /** A Sparkplug birth was refused. */
    doubt: host.doubt,

    /** Births of Sparkplug may have been missed. */
    forgetBirths: host.forgetBirths,

    /** @type {(...args: Parameters<Handler['handle']>) => ReturnType<Handler['handle']>} */
    handle(message, identity, topic) {
      if (topic.kind === 'sparkplug') return sparkplug.handle(message, identity, topic);
      return handlers[/** @type {'birth' | 'status'} */ (topic.kind)].handle(message, identity, topic);
    },

    /** @type {(...args: Parameters<Handler['replay']>) => ReturnType<Handler['replay']>} */
    replay(kept, identity, topic) {
      if (topic.kind === 'sparkplug') return sparkplug.replay(kept, identity, topic);
      return handlers[/** @type {'birth' | 'status'} */ (topic.kind)].replay(kept, identity, topic);
    },
  };
}

/** @typedef {ReturnType<typeof createHandlers>} Handlers */

/**
 * Writes when a device was last seen, for messages without measurements. The pipeline does it for measurements.
 *
 * @callback NoteLastSeen
 * @param {Message} message
 * @param {Identity} identity
 * @returns {Promise<void>} settles when it is committed
 */

/**
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {Statuses} deps.statuses
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @returns {Handler}
 */
function createStatusHandler({ registry, statuses, noteLastSeen, awaitingRegistration }) {
  return {
    async handle(message, identity) {
      // An empty payload removes a retained message. It is not a status.
      if (message.payload.length === 0) return 'accepted';
      const status = readStatus(message.payload, message.receivedAt);
      const device = await registry.device(identity);
      if (!device) {
        awaitingRegistration.remember(identity.id, message);
        throw new MillraceError('unknown_device');
      }
      await statuses.write(device, status, arrivalOf(message));
      if (status.state === 'online') await noteLastSeen(message, identity);
      return 'accepted';
    },

    async replay({ payload, receivedAt }, identity) {
      const status = readStatus(payload, receivedAt);
      const device = await registry.device(identity);
      if (!device) throw new MillraceError('unknown_device');
      await statuses.write(device, status, { receivedAt, as: 'replayed' });
      return { accepted: 1, refused: [] };
    },
  };
}
