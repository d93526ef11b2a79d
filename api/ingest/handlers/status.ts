import { MillraceError } from '../../../common/errors.ts';
import type { Identity } from '../../../schema/ids.ts';
import type { OwnTopic } from '../../../schema/topics.ts';
import type { IngestResult } from '../ingest-result.ts';
import { arrivalOf, type Message, type Outcome } from '../pipeline.ts';
import { readStatus } from '../registry/status.ts';
import type { HandlerDeps } from '../topics.ts';
import type { Kept } from './index.ts';

export function createStatusHandler({
  devices,
  awaitingRegistration,
}: Pick<HandlerDeps, 'devices' | 'awaitingRegistration'>) {
  const { registry, statuses, noteLastSeen } = devices;
  return {
    async handle(message: Message, _topic: OwnTopic, identity: Identity): Promise<Outcome> {
      // An empty payload only removes a retained message, so it is no status.
      if (message.payload.length === 0) return 'accepted';
      const status = readStatus(message.payload, message.receivedAt, message.contentType);
      const device = await registry.device(identity);
      if (!device) {
        awaitingRegistration.remember(identity.id, message);
        throw new MillraceError('unknown_device');
      }
      await statuses.write(device, status, arrivalOf(message));
      if (status.state === 'online') await noteLastSeen(message, identity);
      return 'accepted';
    },

    async replay(
      { payload, receivedAt, contentType }: Kept,
      _topic: OwnTopic,
      identity: Identity,
    ): Promise<IngestResult> {
      const status = readStatus(payload, receivedAt, contentType);
      const device = await registry.device(identity);
      if (!device) throw new MillraceError('unknown_device');
      await statuses.write(device, status, { receivedAt, as: 'replayed' });
      return { accepted: 1, refused: [] };
    },
  };
}

export type StatusHandler = ReturnType<typeof createStatusHandler>;
