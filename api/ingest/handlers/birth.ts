import type { Identity } from '../../../schema/ids.ts';
import type { OwnTopic } from '../../../schema/topics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { storeWaiting } from '../awaiting-registration.ts';
import type { IngestResult } from '../ingest-result.ts';
import { type Arrival, arrivalOf, type Message, type Outcome } from '../pipeline.ts';
import { readBirth } from '../registry/birth-message.ts';
import { arrivalOfSession, eventOf } from '../registry/status.ts';
import type { HandlerDeps } from '../topics.ts';
import type { Handlers, Kept } from './index.ts';

/** `handlers`: of the messages that may wait for a birth */
export function createBirthHandler(
  {
    devices,
    awaitingRegistration,
    deadLetters,
  }: Pick<HandlerDeps, 'devices' | 'awaitingRegistration' | 'deadLetters'>,
  { handlers, metrics }: { handlers: Handlers; metrics: Metrics },
) {
  const { registry, births, events, statuses, noteLastSeen } = devices;

  async function register(
    { payload, contentType }: Pick<Message, 'payload' | 'contentType'>,
    arrival: Arrival,
    identity: Identity,
  ) {
    const { receivedAt, as } = arrival;
    const birth = readBirth(payload, identity, receivedAt, contentType);
    const tooMany = await births.register(identity, birth, arrival);
    if (as !== 'retained') {
      const device = registry.cache.peek(identity.id);
      const began = arrivalOfSession(device, receivedAt);
      await events.note(identity, eventOf('birth', birth.session, device?.clockOffset ?? 0, began));
    }
    return { birth, refused: [...birth.refused, ...tooMany] };
  }

  async function replayWaiting({ route, payload, contentType, receivedAt }: Message, identity: Identity) {
    if (!route || !registry.cache.peek(identity.id)) return;
    const kept = { payload, contentType, receivedAt, now: receivedAt, isRefused: null };
    await handlers.get(route.kind)?.replay(kept, route, identity);
  }

  return {
    async handle(message: Message, { device: name }: OwnTopic, identity: Identity): Promise<Outcome> {
      const arrival = arrivalOf(message);
      const { birth, refused } = await register(message, arrival, identity);
      const device = registry.cache.peek(identity.id);
      if (device && arrival.as === 'live') await statuses.setOnline(device, arrival, birth.session);
      await deadLetters.put(message, name, refused);
      await noteLastSeen(message, identity);
      storeWaiting(awaitingRegistration.take(identity.id), metrics, (waiting) =>
        replayWaiting(waiting, identity),
      );
      return 'accepted';
    },

    async replay(kept: Kept, _topic: OwnTopic, identity: Identity): Promise<IngestResult> {
      const { receivedAt } = kept;
      const { refused } = await register(kept, { receivedAt, as: 'replayed' }, identity);
      return { accepted: 1, refused };
    },
  };
}
