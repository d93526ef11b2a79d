import { MillraceError } from '../../../common/errors.js';
import { brokenNameRule, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { refusalOf } from '../decode/refusals.js';
import { resultOf } from '../ingest-result.js';
import { arrivalOf, refuseForbidden, toKept } from '../pipeline.js';
import { sensorOf } from '../registry/cache.js';
import { readSession } from '../registry/sessions.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { DeviceQueue } from '../admission/index.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { MappedTopic } from '../mappings/index.js' */
/** @import { Description, ParsedMessage } from '../mappings/mapping.js' */
/** @import { Arrival, Message, Outcome } from '../pipeline.js' */
/** @import { Sensor } from '../registry/cache.js' */
/** @import { Devices, Handler, NoteLastSeen } from './index.js' */
/** @import { MeasurementStore } from './measurement-store.js' */

/**
 * Handles messages on mapped topics. A message with values is handled like measurements, and a message with
 * descriptions like a birth. The outcome is `forbidden` if the sender may not send for the device. `replay` stores all
 * values by the present mappings. The mappings may have changed since the first attempt, so the indexes of refused
 * values do not apply. Values that are already stored do not change.
 *
 * @typedef {Handler<MappedTopic, null>} MappedHandler
 */

/**
 * @param {object} deps
 * @param {Devices} deps.devices
 * @param {MessageDecoder} deps.decoder
 * @param {MeasurementStore} deps.measurements
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @param {DeadLetterBox} deps.deadLetters
 * @param {DeviceQueue} deps.queue
 * @param {Metrics} deps.metrics
 * @returns {MappedHandler}
 */
export function createMappedHandler(deps) {
  const { decoder, measurements, noteLastSeen, awaitingRegistration, deadLetters, queue, metrics } = deps;
  const { registry, births } = deps.devices;

  /** @param {Identity} identity @param {MappedTopic} topic @param {ParsedMessage} opened @param {Arrival} arrival */
  async function describe(identity, { mapping }, opened, arrival) {
    const description = mapping.describe(opened);
    if (!description) return [];
    const { sensor: name, unit, type } = description;
    const sensor = identifySensor(identity.id, name);
    if (!sensor) throw new MillraceError('bad_id', `the sensor ${brokenNameRule(name)}`);
    const sensors = [{ index: 0, identity: sensor, name: sensor.name ?? undefined, unit, type }];
    const session = readSession(undefined, arrival.receivedAt);
    const birth = { session, name: identity.name ?? undefined, sensors, refused: [] };
    return births.register(identity, birth, arrival);
  }

  /**
   * Writes units and types of the sensors of a committed batch, if units or types are new.
   *
   * @param {Identity} identity
   * @param {MessageBatch} batch
   * @param {Map<string, Description>} described
   * @param {number} receivedAt epoch ms
   */
  async function writeDescriptions(identity, batch, described, receivedAt) {
    const device = described.size > 0 ? registry.cache.peek(identity.id) : undefined;
    if (!device) return;
    const news = [...described].flatMap(([ref, description]) => {
      const sensor = batch.sensors.has(ref) ? sensorOf(device, ref) : undefined;
      const changes = sensor && newsOf(sensor, description);
      return sensor && changes ? [{ sensor, ...changes, isCurrent: description.isCurrent }] : [];
    });
    for (const isCurrent of [true, false]) {
      const part = news.filter((entry) => entry.isCurrent === isCurrent);
      if (part.length > 0) await registry.describeSensors(device, part, isCurrent ? receivedAt : null);
    }
  }

  /** @param {Message} message @param {Identity} identity @param {MappedTopic} topic @param {ParsedMessage} opened @returns {Promise<Outcome>} */
  async function handleOpened(message, identity, topic, opened) {
    const arrival = arrivalOf(message);
    if (topic.mapping.isDescription) {
      await deadLetters.put(message, opened.device, await describe(identity, topic, opened, arrival));
      await noteLastSeen(message, identity);
      return 'accepted';
    }
    const batch = decoder.emptyBatch(arrival.receivedAt);
    const described = readInto(batch, topic, opened);
    const isKnown = await measurements.store(identity, batch, arrival, message.receipt);
    const kept = { ...toKept(message), route: topic };
    if (isKnown) await writeDescriptions(identity, batch, described, arrival.receivedAt);
    else awaitingRegistration.remember(identity.id, kept);
    if (batch.refused.length > 0) await deadLetters.put(kept, opened.device, batch.refused);
    measurements.noteSettled(batch, arrival.began);
    return batch.outcome;
  }

  return {
    async handle(message, topic) {
      const { mapping, levels } = topic;
      const opened = mapping.open(levels, message.payload, message.contentType);
      metrics.mapped.inc({ mapping: mapping.name, result: opened ? 'read' : 'skipped' });
      if (!opened) return 'accepted';
      const identity = identifyOpened(opened);
      if (refuseForbidden(message, opened.device)) return 'forbidden';
      return queue.run(identity.id, mapping.isDescription, () =>
        handleOpened(message, identity, topic, opened),
      );
    },

    async replay({ payload, contentType, receivedAt, now }, topic) {
      const opened = topic.mapping.open(topic.levels, payload, contentType);
      if (!opened) return { accepted: 0, refused: [] };
      const identity = identifyOpened(opened);
      return queue.run(identity.id, topic.mapping.isDescription, async () => {
        if (topic.mapping.isDescription) {
          return {
            accepted: 1,
            refused: await describe(identity, topic, opened, { receivedAt, as: 'replayed' }),
          };
        }
        const batch = decoder.emptyBatch(receivedAt, now);
        const described = readInto(batch, topic, opened);
        await measurements.storeAgain(identity, batch, { receivedAt, isRefused: null });
        await writeDescriptions(identity, batch, described, receivedAt);
        return resultOf(batch);
      });
    },
  };
}

/** @param {ParsedMessage} opened @returns {Identity} @throws {MillraceError} `bad_id` */
function identifyOpened({ device }) {
  const identity = identifyDevice(device);
  if (identity) return identity;
  throw new MillraceError('bad_id', `the device that the mapping finds ${brokenNameRule(device)}`);
}

/** @param {MessageBatch} batch @param {MappedTopic} topic @param {ParsedMessage} opened @returns {Map<string, Description>} */
function readInto(batch, { mapping }, opened) {
  try {
    return mapping.read(opened, batch);
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    batch.clear();
    batch.refused.push(refusalOf(error.code, error));
    return new Map();
  }
}

/** @param {Sensor} sensor @param {Description} description @returns {{ unit?: string, type?: string } | null} what is new; null: nothing */
function newsOf(sensor, { unit, type, isCurrent }) {
  const isNews = (/** @type {string | null} */ known, /** @type {string | undefined} */ given) =>
    given !== undefined && (known === null || (isCurrent && known !== given));
  const changes = {
    ...(isNews(sensor.unit, unit) ? { unit } : {}),
    ...(isNews(sensor.type, type) ? { type } : {}),
  };
  return Object.keys(changes).length > 0 ? changes : null;
}
