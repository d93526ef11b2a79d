import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { startMosquitto } from './mosquitto.js';
import { collectMessages } from './mqtt-collector.js';
import { startSimulator } from './simulator-process.js';

/** @import { Mosquitto } from './mosquitto.js' */
/** @import { Collector } from './mqtt-collector.js' */

/**
 * A Mosquitto for all tests of the file, and somebody who hears what simulators publish there.
 *
 * @typedef {object} Simulations
 * @property {Mosquitto} broker
 * @property {Collector} collector of what was heard since the test began
 * @property {typeof startSimulator} start what it starts is gone after the test
 */

/** @returns {Simulations} there while tests run */
export function useSimulations() {
  /** @type {ReturnType<typeof startSimulator>[]} */
  const started = [];
  const here = /** @type {Simulations} */ ({
    start(args, environment) {
      const simulator = startSimulator(args, environment);
      started.push(simulator);
      return simulator;
    },
  });
  beforeAll(async () => {
    here.broker = await startMosquitto();
    here.collector = await collectMessages(here.broker.url);
  });
  afterEach(async () => {
    here.broker.resume();
    await Promise.all(started.splice(0).map((simulator) => simulator.kill()));
    here.collector.messages.length = 0;
  });
  afterAll(async () => {
    await here.collector?.stop();
    await here.broker?.remove();
  });
  return here;
}
