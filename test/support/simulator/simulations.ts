import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type Collector, collectMessages } from '../mqtt/collector.ts';
import { type Mosquitto, startMosquitto } from '../mqtt/mosquitto.ts';
import { startSimulator } from '../processes/simulator-process.ts';

/** A Mosquitto for all tests of the file, and a collector of the messages that simulators publish there. */
interface Simulations {
  broker: Mosquitto;
  /** of the messages since the test began */
  collector: Collector;
  /** starts a simulator, which is killed after the test */
  start: typeof startSimulator;
}

export function useSimulations(): Simulations {
  const started: ReturnType<typeof startSimulator>[] = [];
  const context = {
    start(args, environment) {
      const simulator = startSimulator(args, environment);
      started.push(simulator);
      return simulator;
    },
  } as Simulations;
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
