import { MillraceError } from '../../../common/errors.js';
import { readStatus } from '../registry/status.js';

/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Statuses } from '../registry/status.js' */
/** @import { Handler, Sightings } from './index.js' */

/**
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {Statuses} deps.statuses
 * @param {Sightings} deps.sightings
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @returns {Handler}
 */
export function createStatusHandler({ registry, statuses, sightings, awaitingRegistration }) {
  return {
    async handle(message, identity) {
      // An empty payload is how a retained message is taken away: it says nothing of the device.
      if (message.payload.length === 0) return 'accepted';
      const status = readStatus(message.payload, message.receivedAt);
      const device = await registry.device(identity);
      if (!device) {
        awaitingRegistration.remember(identity.id, message);
        throw new MillraceError('unknown_device');
      }
      await statuses.write(device, status, message.retained ? null : message.receivedAt);
      if (status.state === 'online') await sightings.note(message, identity);
      return 'accepted';
    },

    async replay({ payload, receivedAt }, identity) {
      const status = readStatus(payload, receivedAt);
      const device = await registry.device(identity);
      if (!device) throw new MillraceError('unknown_device');
      await statuses.write(device, status, receivedAt);
      return { accepted: 1, refused: [] };
    },
  };
}
