import { MillraceError } from '../../../common/errors.js';
import { resultOrRefusal } from '../ingest-result.js';
import { readBirth, readDescription } from './birth-message.js';
import { sensorOf } from './cache.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Births } from './births.js' */
/** @import { Registry } from './index.js' */

/**
 * Creates the service that writes descriptions from HTTP clients: type, unit, site and label of devices and sensors, for devices that send
 * no births.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {Births} deps.births
 * @param {() => boolean} deps.isStuck whether the database has refused all requests for a while
 * @param {() => number} deps.clock epoch ms
 */
export function createDescriptions({ registry, births, isStuck, clock }) {
  /**
   * Refuses a description while the database is unavailable. Ingest repeats a birth until its commit, but an
   * HTTP client waits for the answer and repeats the request itself.
   *
   * @throws {MillraceError} `busy`
   */
  function demandDatabase() {
    if (isStuck()) throw new MillraceError('busy');
  }

  return {
    /**
     * Describes a device, and registers a new device.
     *
     * @param {Identity} device
     * @param {Buffer} payload in the format of a birth; `session` and `name` are ignored
     * @returns {Promise<IngestResult>} settles when the description is committed; `accepted` counts sensors
     * @throws {MillraceError} `busy`; `unavailable`: this process ends
     */
    async device(device, payload) {
      demandDatabase();
      return resultOrRefusal(async () => {
        const { site, label, sensors, refused } = readBirth(payload, device, clock());
        const tooMany = await births.describe(device, { site, label, sensors });
        return { accepted: sensors.length - tooMany.length, refused: [...refused, ...tooMany] };
      });
    },

    /**
     * Describes a registered sensor.
     *
     * @param {Identity} device
     * @param {string} sensor id or name
     * @param {Buffer} payload `{"type", "unit", "label", "interval_ms"}`
     * @returns {Promise<IngestResult>} settles when the description is committed
     * @throws {MillraceError} `busy`; `not_found`: there is no such sensor; `unavailable`: this process ends
     */
    async sensor(device, sensor, payload) {
      demandDatabase();
      // The device is read again, because another process may have received a birth with this sensor.
      const known = await registry.reload(device);
      if (!known || !sensorOf(known, sensor))
        throw new MillraceError('not_found', 'There is no such sensor.');
      return resultOrRefusal(async () => {
        const description = readDescription(payload, device.id, sensor);
        return { accepted: 1, refused: await births.describe(device, { sensors: [description] }) };
      });
    },
  };
}

/** @typedef {ReturnType<typeof createDescriptions>} Descriptions */
