import { isBirth } from '../../../schema/sparkplug-topics.js';
import { storeWaiting } from '../awaiting-registration.js';
import { notReplayable, resultOf } from '../ingest-result.js';
import { arrivalOf, toKept } from '../pipeline.js';
import { arrivalOfSession, eventOf } from '../registry/status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { EdgeTopic } from '../../../schema/topics.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { Arrival, Message } from '../pipeline.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { Sparkplug } from '../sparkplug/index.js' */
/** @import { Devices, Handler, NoteLastSeen } from './index.js' */
/** @import { MeasurementStore } from './measurement-store.js' */

/** The pipeline calls `refused` when a message is refused as a whole. @typedef {Handler<EdgeTopic, Identity> & { refused(topic: EdgeTopic): void }} SparkplugHandler */

/** A message that waits for a birth. @typedef {Message & { isRefused: (index: number) => boolean }} WaitingMessage `isRefused`: whether a metric was refused */

/**
 * Creates the handler for messages of Sparkplug edge nodes. A message may be a birth, a death that ends devices, measurements, or several
 * of these.
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
  async function registerBirth(birth, identity, arrival) {
    const tooMany = await births.register(identity, birth, arrival);
    const device = await registry.device(identity);
    if (!device || arrival.as === 'contradictory') return tooMany;
    const { receivedAt, as } = arrival;
    const event = eventOf('birth', birth.session, device.clockOffset, arrivalOfSession(device, receivedAt));
    if (as !== 'retained') await events.note(identity, event);
    await statuses.write(device, { state: 'online', session: birth.session }, arrival);
    return tooMany;
  }

  /**
   * Sets a device and its edge node online, because live data prove that both are online.
   *
   * @param {Arrival} arrival
   * @param {Identity[]} identities
   */
  async function setOnline(arrival, identities) {
    if (arrival.as !== 'live') return;
    for (const { id } of identities) {
      const device = registry.cache.peek(id);
      if (device?.state === 'offline') await statuses.setOnline(device, arrival);
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
      if (isBirth(topic.type)) sparkplug.forgetRefusedBirth(topic);
    },

    async handle(message, topic, identity) {
      const arrival = arrivalOf(message);
      const result = await sparkplug.read(message, topic.sparkplug, identity);
      const { birth, isContradictory, isNewSession, isUncertain, ended, batch, nodeIdentity } = result;
      // The message is queued before the commit, because a birth that arrives during the commit has to find the waiting
      // message.
      if (isUncertain && batch) {
        const indexes = new Set(batch.refused.map(({ index }) => index));
        awaitingBirth.remember(identity.id, { ...message, isRefused: (index) => indexes.has(index) });
      }
      const waiting = birth === null && !isNewSession ? [] : awaitingBirth.take(identity.id);
      for (const device of ended) {
        if (isNewSession) awaitingBirth.take(device.id);
        await statuses.setOffline(device, arrival);
      }
      /** @type {Arrival} */
      const asBirth = isContradictory ? { ...arrival, as: 'contradictory' } : arrival;
      const tooMany = birth ? await registerBirth(birth, identity, asBirth) : [];
      if (!batch) return 'accepted';
      await measurements.store(identity, batch, arrival, message.receipt);
      if (!birth) await setOnline(arrival, [identity, nodeIdentity]);
      const refused = [...(birth?.refused ?? []), ...batch.refused, ...tooMany];
      await deadLetters.put(toKept(message), topic.device, oncePerMetric(refused));
      await noteLastSeen(message, identity);
      measurements.noteSettled(batch, arrival.began);
      // The birth of a new session does not define the aliases of waiting messages from the previous session.
      if (!isNewSession && !isContradictory) {
        storeWaiting(waiting, metrics, async ({ route, isRefused, ...kept }) => {
          if (route?.kind === 'sparkplug')
            await replay({ ...toKept(kept), now: kept.receivedAt, isRefused }, route, identity);
        });
      }
      return 'accepted';
    },
  };
}

/**
 * Removes repeated refusals: a metric of a birth may be refused twice, as a sensor and as a measurement.
 *
 * @param {Refusals} refused
 */
const oncePerMetric = (refused) => [...new Map(refused.map((refusal) => [refusal.index, refusal])).values()];
