import { createAudience } from './audience.js';
import { liveTopic, statsTopic } from './topics.js';

/**
 * Where one process is all there is: its readers hear of a change in the same turn. Others may subscribe at the
 * embedded broker.
 *
 * @param {import('./index.js').Outside} outside
 * @returns {import('./index.js').Link}
 */
export function createLocalLink(outside) {
  const audience = createAudience();

  return {
    isWanted: (device) => audience.hears(device) || outside.isWanted(),

    publish(device, items, committedAt) {
      audience.tell(device, items, committedAt);
      if (outside.isWanted()) outside.send(liveTopic(device), Buffer.from(JSON.stringify(items)));
    },

    async listen(devices, listener) {
      audience.add(devices, listener);
      return () => void audience.remove(devices, listener);
    },

    tellStats(process, signs) {
      if (outside.isWanted()) outside.send(statsTopic(process), Buffer.from(signs));
    },

    // There are no others.
    listenStats() {},

    // Nothing is lost on the way.
    onMissed: () => () => {},
    checks: {},
    async start() {},
    async stop() {},
    get listening() {
      return audience.devices.length > 0;
    },
  };
}
