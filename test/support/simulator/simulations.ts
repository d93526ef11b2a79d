import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { collectMessages } from '../mqtt/collector.js';
import { startMosquitto } from '../mqtt/mosquitto.js';
import { startSimulator } from '../processes/simulator-process.js';

/** @import { Mosquitto } from '../mqtt/mosquitto.js' */
/** @import { Collector } from '../mqtt/collector.js' */

/**
 * A Mosquitto for all tests of the file, and a collector of the messages that simulators publish there.
 *
 * @typedef {object} Simulations
 * @property {Mosquitto} broker
 * @property {Collector} collector of the messages since the test began
 * @property {typeof startSimulator} start starts a simulator, which is killed after the test
 */

/** @returns {Simulations} available while tests run */
export function useSimulations() {
  /** @type {ReturnType<typeof startSimulator>[]} */
  const started = [];
  const context = /** @type {Simulations} */ ({
    start(args, environment) {
      const simulator = startSimulator(args, environment);
      started.push(simulator);
      return simulator;
    },
  });
  beforeAll(async () => {
    context.broker = await startMosquitto();
    context.collector = await collectMessages(context.broker.url);
  });
  afterEach(async () => {
    context.broker.resume();
    await Promise.all(started.splice(0).map((simulator) => simulator.kill()));
    context.collector.messages.length = 0;
  });
  afterAll(async () => {
    await context.collector?.stop();
    await context.broker?.remove();
  });
  return context;
}
