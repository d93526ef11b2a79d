import { MillraceError } from '../../../common/errors.js';
import { arrivalOf } from '../pipeline.js';
import { readStatus } from '../registry/status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { OwnTopic } from '../../../schema/topics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Message, Outcome } from '../pipeline.js' */
/** @import { Devices, Kept, NoteLastSeen } from './index.js' */

/**
 * @param {object} deps
 * @param {Devices} deps.devices
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {AwaitingRegistration} deps.awaitingRegistration
 */
export function createStatusHandler({ devices, noteLastSeen, awaitingRegistration }) {
  const { registry, statuses } = devices;
  return {
    /** @param {Message} message @param {OwnTopic} _topic @param {Identity} identity @returns {Promise<Outcome>} */
    async handle(message, _topic, identity) {
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

    /** @param {Kept} kept @param {OwnTopic} _topic @param {Identity} identity @returns {Promise<IngestResult>} */
    async replay({ payload, receivedAt, contentType }, _topic, identity) {
      const status = readStatus(payload, receivedAt, contentType);
      const device = await registry.device(identity);
      if (!device) throw new MillraceError('unknown_device');
      await statuses.write(device, status, { receivedAt, as: 'replayed' });
      return { accepted: 1, refused: [] };
    },
  };
}

/** @typedef {ReturnType<typeof createStatusHandler>} StatusHandler */
