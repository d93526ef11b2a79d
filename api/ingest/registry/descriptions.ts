import { MillraceError } from '../../../common/errors.ts';
import type { Identity } from '../../../schema/ids.ts';
import { type IngestResult, resultOrRefusal } from '../ingest-result.ts';
import { readBirth, readDescription } from './birth-message.ts';
import type { Births } from './births.ts';
import { sensorOf } from './cache.ts';
import type { Registry } from './index.ts';

/** Type, unit, site and label of devices and sensors, for devices that send no births. */
export function createDescriptions({
  registry,
  births,
  isStuck,
  clock,
}: {
  registry: Registry;
  births: Births;
  /** the database has refused all requests for a while */
  isStuck: () => boolean;
  /** epoch ms */
  clock: () => number;
}) {
  /** Ingest repeats a birth until its commit, but an HTTP client waits for the answer and repeats the request itself. */
  function demandDatabase() {
    if (isStuck()) throw new MillraceError('busy');
  }

  return {
    /**
     * Registers a new device. The payload is that of a birth; `session` and `name` are ignored. `accepted` counts sensors.
     * @throws `busy`; `unavailable`: this process ends
     */
    async device(device: Identity, payload: Buffer): Promise<IngestResult> {
      demandDatabase();
      return resultOrRefusal(async () => {
        const { site, label, sensors, refused } = readBirth(payload, device, clock());
        const tooMany = await births.describe(device, { site, label, sensors });
        return { accepted: sensors.length - tooMany.length, refused: [...refused, ...tooMany] };
      });
    },

    /**
     * The payload is `{"type", "unit", "label", "interval_ms"}`.
     * @throws `busy`; `not_found`: there is no such sensor; `unavailable`: this process ends
     */
    async sensor(device: Identity, sensor: string, payload: Buffer): Promise<IngestResult> {
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
