import { createBirths } from '../registry/births.js';
import { createEvents } from '../registry/events.js';
import { createStatuses } from '../registry/status.js';
import { createSparkplug } from '../sparkplug/index.js';
import { createBirthHandler } from './birth.js';
import { createSightings } from './sightings.js';
import { createSparkplugHandler } from './sparkplug.js';
import { createStatusHandler } from './status.js';

/** @typedef {import('../../../schema/ids.js').Identity} Identity */
/** @typedef {import('../ingest-result.js').IngestResult} IngestResult */
/** @typedef {import('../topics.js').Topic} Topic */
/** @typedef {import('../topics.js').EdgeTopic} EdgeTopic */

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
 * @property {(message: import('../pipeline.js').Message, identity: Identity, topic: T) => Promise<import('../pipeline.js').Outcome>} handle
 *   settles when all that is good is committed, and the rest is a dead letter
 * @property {(kept: Kept, identity: Identity, topic: T) => Promise<IngestResult>} replay settles when all that is good is
 *   committed. A birth or a status counts as one accepted element. Replaying twice writes the same rows
 */

/**
 * Handlers of all messages that are not measurements: births, statuses and all Sparkplug messages.
 *
 * @param {object} deps
 * @param {import('../../../common/settings/index.js').Config} deps.config
 * @param {import('../../store/index.js').Store} deps.store
 * @param {import('../../patience.js').Patience} deps.patience
 * @param {import('../registry/index.js').Registry} deps.registry
 * @param {import('../decode/index.js').MessageDecoder} deps.decoder
 * @param {import('../pipeline.js').IngestPipeline} deps.measurements
 * @param {import('../last-seen.js').LastSeen} deps.lastSeen
 * @param {import('../dead-letter-box.js').DeadLetterBox} deps.deadLetters
 * @param {import('../strays.js').Strays} deps.strays
 * @param {import('../intake.js').Send} deps.send
 * @param {() => number} deps.clock epoch ms
 * @param {import('../../metrics.js').Metrics} deps.metrics
 */
export function createHandlers(deps) {
  const { config, store, patience, registry, decoder, measurements, lastSeen, deadLetters, strays, send } =
    deps;
  const { clock, metrics } = deps;
  const { historyDays } = config.retention;
  const births = createBirths({ registry, store: store.registry, patience, clock });
  const events = createEvents({ store: store.events, patience });
  const statuses = createStatuses({ registry, store: store.registry, patience, events });
  const sightings = createSightings({ registry, lastSeen });
  const status = createStatusHandler({ registry, statuses, sightings, strays });
  const birth = createBirthHandler({
    registry,
    births,
    events,
    sightings,
    strays,
    measurements,
    status,
    deadLetters,
    metrics,
  });
  const sparkplug = createSparkplugHandler({
    sparkplug: createSparkplug({
      store: store.sparkplug,
      registry,
      decoder,
      patience,
      send,
      historyDays,
      clock,
      metrics,
    }),
    registry,
    births,
    statuses,
    events,
    measurements,
    sightings,
    deadLetters,
  });
  const handlers = { birth, status };

  return {
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
