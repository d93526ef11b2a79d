import type { Identity } from '../../../schema/ids.ts';
import { isBirth } from '../../../schema/sparkplug-topics.ts';
import type { Handler, Kept } from '../../ingest/handlers/index.ts';
import {
  AwaitingRegistration,
  arrivalOf,
  notReplayable,
  resultOf,
  storeWaiting,
  toKept,
} from '../../ingest/index.ts';
import type { Arrival, Message } from '../../ingest/pipeline.ts';
import type { Birth } from '../../ingest/registry/birth-message.ts';
import { arrivalOfSession, eventOf } from '../../ingest/registry/index.ts';
import type { HandlerDeps } from '../../ingest/topics.ts';
import type { Context } from '../../observability/index.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import type { Sparkplug } from './sparkplug.ts';
import type { EdgeTopic } from './topics.ts';

/** `isRefused`: the metric was refused */
type WaitingMessage = Message & { route: EdgeTopic; isRefused: (index: number) => boolean };

/** A message may be a birth, a death that ends devices, measurements, or several of these. */
export function createSparkplugHandler(
  { clock, metrics }: Pick<Context, 'clock' | 'metrics'>,
  { devices, measurements, deadLetters }: Pick<HandlerDeps, 'devices' | 'measurements' | 'deadLetters'>,
  sparkplug: Sparkplug,
): Handler<EdgeTopic, Identity> {
  const { registry, births, events, statuses, noteLastSeen } = devices;
  const awaitingBirth = new AwaitingRegistration<WaitingMessage>({ clock });

  async function registerBirth(birth: Birth, identity: Identity, arrival: Arrival) {
    const tooMany = await births.register(identity, birth, arrival);
    const device = await registry.device(identity);
    if (!device || arrival.as === 'contradictory') return tooMany;
    const { receivedAt, as } = arrival;
    const event = eventOf('birth', birth.session, device.clockOffset, arrivalOfSession(device, receivedAt));
    if (as !== 'retained') await events.note(identity, event);
    await statuses.write(device, { state: 'online', session: birth.session }, arrival);
    return tooMany;
  }

  /** Live data prove that a device and its edge node are online. */
  async function setOnline(arrival: Arrival, identities: Identity[]) {
    if (arrival.as !== 'live') return;
    for (const { id } of identities) {
      const device = registry.cache.peek(id);
      if (device?.state === 'offline') await statuses.setOnline(device, arrival);
    }
  }

  async function replay(
    { payload, receivedAt, now, isRefused }: Kept,
    { sparkplug: topic }: EdgeTopic,
    identity: Identity,
  ) {
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
      // The message is queued before the commit, because a birth that arrives during the commit has to find the waiting message.
      if (isUncertain && batch) {
        const indexes = new Set(batch.refused.map(({ index }) => index));
        awaitingBirth.remember(identity.id, {
          ...message,
          route: topic,
          isRefused: (index) => indexes.has(index),
        });
      }
      const waiting = birth === null && !isNewSession ? [] : awaitingBirth.take(identity.id);
      for (const device of ended) {
        if (isNewSession) awaitingBirth.take(device.id);
        await statuses.setOffline(device, arrival);
      }
      const asBirth: Arrival = isContradictory ? { ...arrival, as: 'contradictory' } : arrival;
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
          await replay({ ...toKept(kept), now: kept.receivedAt, isRefused }, route, identity);
        });
      }
      return 'accepted';
    },
  };
}

/** A metric of a birth may be refused twice, as a sensor and as a measurement. */
const oncePerMetric = (refused: Refusals) => [
  ...new Map(refused.map((refusal) => [refusal.index, refusal])).values(),
];
