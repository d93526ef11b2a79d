import { isBirth } from '../../../schema/sparkplug-topics.js';
import { notReplayable, resultOf } from '../ingest-result.js';
import { isProof } from '../registry/sessions.js';
import { arrivalOfSession, eventOf } from '../registry/status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { EdgeTopic } from '../../../schema/topics.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { Message } from '../pipeline.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { Arrival } from '../registry/sessions.js' */
/** @import { Sparkplug } from '../sparkplug/index.js' */
/** @import { Devices, Handler, NoteLastSeen } from './index.js' */
/** @import { MeasurementStore } from './measurements.js' */

/** `refused` is called when a message is refused as a whole. @typedef {Handler<EdgeTopic, Identity> & { refused(topic: EdgeTopic): void }} SparkplugHandler */

/** @typedef {Message & { isRefused: (index: number) => boolean }} WaitingMessage `isRefused`: whether a metric was refused */

/**
 * Handles the messages of Sparkplug edge nodes. A message may be a birth, the end of some devices, measurements, or several of these.
 *
 * @param {object} deps
 * @param {Devices} deps.devices
 * @param {Sparkplug} deps.sparkplug
 * @param {MeasurementStore} deps.measurements
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {DeadLetterBox} deps.deadLetters
 * @param {AwaitingRegistration<WaitingMessage>} deps.awaitingBirth
 * @param {Metrics} deps.metrics
 * @returns {SparkplugHandler}
 */
export function createSparkplugHandler(deps) {
  const { sparkplug, measurements, noteLastSeen, deadLetters, awaitingBirth, metrics } = deps;
  const { registry, births, events, statuses } = deps.devices;

  /** @param {Birth} birth @param {Identity} identity @param {Arrival} arrival */
  async function begin(birth, identity, arrival) {
    const tooMany = await births.register(identity, birth, arrival);
    const device = await registry.device(identity);
    if (!device || arrival.as === 'contradictory') return tooMany;
    const { receivedAt, as } = arrival;
    const event = eventOf('birth', birth.session, device.clockOffset, arrivalOfSession(device, receivedAt));
    if (as !== 'retained') await events.note(identity, event);
    await statuses.write(device, { state: 'online', session: birth.session }, arrival);
    return tooMany;
  }

  /** A message proves that its device and its node are there. @param {Message} message @param {Identity[]} identities */
  async function prove(message, identities) {
    if (!isProof(message)) return;
    for (const { id } of identities) {
      const device = registry.cache.peek(id);
      if (device?.state === 'offline') await statuses.prove(device, message.receivedAt);
    }
  }

  /** Stores a message that waited for this birth. It is already a dead letter, which remains if this fails. @param {WaitingMessage} waiting @param {Identity} identity */
  async function storeAfterAll({ route, payload, receivedAt, isRefused }, identity) {
    if (route?.kind !== 'sparkplug') return;
    try {
      await replay({ payload, receivedAt, now: receivedAt, isRefused }, route, identity);
    } catch {
      metrics.messages.inc({ result: 'unsettled' });
    }
  }

  /** @type {Handler<EdgeTopic, Identity>['replay']} */
  async function replay({ payload, receivedAt, now, isRefused }, { sparkplug: topic }, identity) {
    const { birth, batch } = await sparkplug.readAgain({ payload, receivedAt, now }, topic, identity);
    if (!batch) throw notReplayable('A death only describes the past.');
    if (birth) await births.register(identity, birth, { receivedAt, as: 'replayed' });
    await measurements.storeAgain(identity, batch, { receivedAt, isRefused });
    return resultOf(batch);
  }

  return {
    replay,

    refused({ sparkplug: topic }) {
      if (isBirth(topic.type)) sparkplug.doubt(topic);
    },

    async handle(message, topic, identity) {
      const began = performance.now();
      const { retained, receivedAt } = message;
      const result = await sparkplug.read(message, topic.sparkplug, identity);
      const { birth, isContradictory, isNewSession, isUncertain, ended, batch, nodeIdentity } = result;
      if (isUncertain && batch) {
        const indexes = new Set(batch.refused.map(({ index }) => index));
        awaitingBirth.remember(identity.id, { ...message, isRefused: (index) => indexes.has(index) });
      }
      const waiting = birth === null && !isNewSession ? [] : awaitingBirth.take(identity.id);
      const as = isContradictory ? 'contradictory' : retained ? 'retained' : 'live';
      for (const device of ended) {
        if (isNewSession) awaitingBirth.take(device.id);
        await statuses.end(device, receivedAt);
      }
      const tooMany = birth ? await begin(birth, identity, { receivedAt, as }) : [];
      if (!batch) return 'accepted';
      const receipt = message.receipt ?? { from: null };
      await measurements.store(identity, batch, message, receipt);
      if (!birth) await prove(message, [identity, nodeIdentity]);
      // A replay has to compute the same times.
      const kept = { ...message, receivedAt: receipt.from ?? receivedAt };
      await deadLetters.put(kept, topic.device, eachOnce([...batch.refused, ...tooMany]));
      await noteLastSeen(message, identity);
      measurements.noteSettled(batch, began);
      // Messages of the session before are not explained by this birth.
      if (!isNewSession && !isContradictory) {
        for (const each of waiting) void storeAfterAll(each, identity);
      }
      return 'accepted';
    },
  };
}

/**
 * A metric of a birth may be refused twice, as a sensor and as a measurement. It counts once.
 *
 * @param {Refusals} refused
 */
const eachOnce = (refused) => [...new Map(refused.map((refusal) => [refusal.index, refusal])).values()];
