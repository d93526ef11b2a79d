import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Aedes } from 'aedes';
import { createStatusLine } from '../../../common/status-line.ts';
import { readFlags } from '../../../simulator/flags.ts';
import { createMeter } from '../../../simulator/meter.ts';
import { runFleet } from '../../../simulator/run-fleet.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();

/** Starts a broker that the test can stop and start again at the same address. */
async function startBroker() {
  let answers = true;
  let port = 0;
  const topics: string[] = [];
  let aedes: Aedes | undefined;
  let server: Server | undefined;

  async function start() {
    const started = await Aedes.createBroker({
      authorizePublish(_, { topic }, done) {
        topics.push(topic);
        if (answers) done(null);
      },
    });
    aedes = started;
    server = createServer((socket) => started.handle(socket));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }

  async function stop() {
    const [closing, listening] = [aedes, server];
    [aedes, server] = [undefined, undefined];
    if (!closing || !listening) return;
    listening.close();
    await new Promise((resolve) => closing.close(() => resolve(null)));
  }

  await start();
  afterwards(stop);
  return {
    url: `mqtt://127.0.0.1:${port}`,
    topics,
    start,
    stop,
    /** From now on the broker acknowledges nothing. */
    fallSilent() {
      answers = false;
    },
  };
}

/** Starts a simulator at a fixed rate. The test ends the time limit of the first connection. */
function startRun(url: string) {
  // No signal handlers: the process belongs to Jest.
  const controller = new AbortController();
  const stop = (reason: unknown) => controller.abort(reason);
  const stopSignal = { signal: controller.signal, stop, stopAfter: () => {}, dispose: () => {} };
  const meter = createMeter();
  let output = '';
  const stream = new Writable({
    write(chunk, _, done) {
      output += chunk;
      done();
    },
  });
  let cancelled = false;
  let passTime = () => {};
  const passed = new Promise<void>((resolve) => {
    passTime = resolve;
  });
  const cancel = () => {
    cancelled = true;
  };
  const ended = runFleet(
    {
      flags: readFlags(['--devices', '1', '--sensors', '1', '--rate', '50']),
      broker: { url },
      seed: 1,
      meter,
      ledger: null,
      statusLine: createStatusLine(stream),
      stopSignal,
      begin: () => {},
      print: () => {},
    },
    () => ({ passed, cancel }),
  ).catch((error) => error);
  afterwards(async () => {
    stopSignal.stop('stopped');
    await ended;
  });
  return {
    stopSignal,
    ended,
    acknowledged: () => meter.snapshot().acknowledged,
    lostConnection: () => output.includes('the connection closed'),
    isCancelled: () => cancelled,
    async passFirstConnectTime() {
      passTime();
      await nextTurn();
    },
  };
}

test('Simulator at a fixed rate: the broker goes down after the first connection: the run continues beyond the 30 s limit', async () => {
  const broker = await startBroker();
  const run = startRun(broker.url);
  await until(() => run.acknowledged() > 0);
  expect(run.isCancelled()).toBe(true);
  await broker.stop();
  await until(run.lostConnection);
  await run.passFirstConnectTime();
  expect(run.stopSignal.signal.aborted).toBe(false);
  const before = run.acknowledged();
  await broker.start();
  await until(() => run.acknowledged() > before);
  run.stopSignal.stop('stopped');
  expect(await run.ended).toBeUndefined();
});

test('Simulator at a fixed rate: no connection within 30 s: the run ends and names the broker', async () => {
  const broker = await startBroker();
  await broker.stop();
  const run = startRun(broker.url);
  await run.passFirstConnectTime();
  expect(await run.ended).toMatchObject({
    code: 'broker_away',
    message: `The broker at ${broker.url} could not be reached. Check that the broker runs there. If npm run dev runs with another DATA_DIR or MQTT_PORT, set the same.`,
  });
});
