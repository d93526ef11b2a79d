import { createBirths } from '../registry/births.js';
import { createEvents } from '../registry/events.js';
import { createStatuses } from '../registry/status.js';
import { createSparkplug } from '../sparkplug/index.js';
import { createStrays } from '../strays.js';
import { createBirthWay } from './birth.js';
import { createMeasurementsWay } from './measurements.js';
import { createSightings } from './sightings.js';
import { createSparkplugWay } from './sparkplug.js';
import { createStatusWay } from './status.js';

/** @typedef {import('../../../schema/ids.js').Identity} Identity */
/** @typedef {import('../telling.js').Told} Told */
/** @typedef {import('../topics.js').Topic} Topic */
/** @typedef {import('../topics.js').EdgeTopic} EdgeTopic */

/**
 * A message that was refused, to be stored now: times relative to now count from the time of receipt, as then; how old
 * or how far ahead one may be counts from now.
 *
 * @typedef {object} Kept
 * @property {Buffer} payload
 * @property {string} [contentType] MQTT 5
 * @property {number} receivedAt epoch ms
 * @property {number} now epoch ms
 * @property {((index: number) => boolean) | null} isRefused tells of an element whether it is to be stored; null: all are
 */

/**
 * The way of one kind of messages. Both fail with what refuses the message as a whole.
 *
 * @template {Topic} [T=Topic]
 * @typedef {object} Way
 * @property {(message: import('../accept.js').Message, identity: Identity, topic: T) => Promise<import('../accept.js').Outcome>} accept
 *   settles when all that is good is committed, and the rest a dead letter
 * @property {(kept: Kept, identity: Identity, topic: T) => Promise<Told>} replay settles when all that is good is
 *   committed; what is refused is told, a birth or a status counts as one. Doing it twice writes the same rows
 */

/**
 * The ways that messages go, by what their topics say.
 *
 * @param {object} parts
 * @param {import('../../../common/settings.js').Config} parts.config
 * @param {import('../../store/index.js').Store} parts.store
 * @param {import('../../patience.js').Patience} parts.patience
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../measurements.js').Measurements} parts.measurements
 * @param {import('../last-seen.js').LastSeen} parts.lastSeen
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('../intake.js').Send} parts.send
 * @param {() => number} parts.clock epoch ms
 * @param {import('../../metrics.js').Metrics} parts.metrics
 * @param {import('../../vitals.js').Vitals} parts.vitals
 */
export function createWays(parts) {
  const { config, store, patience, registry, measurements, lastSeen, deadLetters, send } = parts;
  const { clock, metrics, vitals } = parts;
  const { historyDays } = config.retention;
  const births = createBirths({ registry, store: store.registry, patience, clock });
  const events = createEvents({ store: store.events, patience });
  const statuses = createStatuses({ registry, store: store.registry, patience, events });
  const sightings = createSightings({ registry, lastSeen });
  const strays = createStrays({ clock });
  const measured = createMeasurementsWay({ measurements, strays, deadLetters, vitals });
  const status = createStatusWay({ registry, statuses, sightings, strays });
  const birth = createBirthWay({
    registry,
    births,
    events,
    sightings,
    strays,
    ways: { measurements: measured, status },
    deadLetters,
    metrics,
  });
  const ofOurs = { measurements: measured, birth, status };
  const ofEdges = createSparkplugWay({
    sparkplug: createSparkplug({
      store: store.sparkplug,
      registry,
      measurements,
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
    vitals,
  });

  return {
    /** @type {Way['accept']} */
    accept: (message, identity, topic) =>
      topic.kind === 'sparkplug'
        ? ofEdges.accept(message, identity, topic)
        : ofOurs[topic.kind].accept(message, identity, topic),

    /** @type {Way['replay']} */
    replay: (kept, identity, topic) =>
      topic.kind === 'sparkplug'
        ? ofEdges.replay(kept, identity, topic)
        : ofOurs[topic.kind].replay(kept, identity, topic),
  };
}

/** @typedef {ReturnType<typeof createWays>} Ways */
