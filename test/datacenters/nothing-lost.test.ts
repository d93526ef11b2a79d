import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { steadyPort } from '../../infra/engine/ports.ts';
import { createRandom } from '../../simulator/random.ts';
import { startFleet } from '../cluster/kit/fleet.ts';
import { createJudge } from '../cluster/kit/judge.ts';
import { createWorker, type Worker } from '../cluster/kit/worker.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { DATA_CENTERS, type DataCenter, startDataCenters, type TwoDataCenters } from './kit/data-centers.ts';

// Real processes and simulated devices in both data centers. Each has a ledger, and both must have both ledgers.

const TIMEOUT_MS = 900_000;
/** Two cores also run six nodes. */
const DEVICES = 15;

const seed = jest.getSeed() >>> 0;
let world: TwoDataCenters;

beforeAll(async () => {
  world = await startDataCenters({ keyspace: 'chaos' });
  world.report(`repeat these faults with: npm run test:datacenters -- --seed ${jest.getSeed()}`);
}, TIMEOUT_MS);

afterAll(async () => {
  world?.link.open();
  await world?.stop();
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

type Fleet = ReturnType<typeof startDevices>;
type Running = { dataCenter: DataCenter; port: string; worker: Worker; fleet: Fleet };

/** A process that is broker, ingest, packer and API, in a data center. */
async function startWorker(
  { name, settings }: DataCenter,
  port: string,
  others: Record<string, string> = {},
) {
  const worker = createWorker(`the process in ${name}`, { ...settings, MQTT_PORT: port, ...others });
  afterwards(worker.kill);
  await worker.start();
  return worker;
}

/** @param name of the drill */
function startDevices(name: string, dataCenter: DataCenter, port: string) {
  const prefix = `${name}-${dataCenter.name}`;
  const ledger = join(world.directory, `${prefix}.ledger`);
  const fleet = startFleet({ broker: `mqtt://127.0.0.1:${port}`, ledger, seed, devices: DEVICES, prefix });
  afterwards(fleet.kill);
  return { ledger, ...fleet };
}

async function startBoth(name: string): Promise<[Running, Running]> {
  const both: Running[] = [];
  for (const dataCenter of world.dataCenters) {
    const port = String(await steadyPort());
    // One of the processes acknowledges from its journal.
    const journal = dataCenter.name === DATA_CENTERS[0] ? 'always' : 'busy';
    const worker = await startWorker(dataCenter, port, { INGEST_JOURNAL: journal });
    both.push({ dataCenter, port, worker, fleet: startDevices(name, dataCenter, port) });
  }
  for (const { fleet } of both) await fleet.progress(100);
  return both as [Running, Running];
}

/** Each data center reads each ledger at LOCAL_QUORUM, and `latest` is the newest sample. */
async function expectNothingLost(both: Running[], since: number) {
  for (const { dataCenter, worker } of both) {
    const judge = createJudge({ cluster: world.cluster, config: dataCenter.config });
    for (const { dataCenter: sender, fleet } of both) {
      const { acknowledged, stored } = await judge.agreement(fleet.ledger);
      expect(acknowledged).toBeGreaterThan(2000);
      world.report(
        `read in ${dataCenter.name}: ${acknowledged} samples acknowledged in ${sender.name}, ${stored} stored: none is lost, and latest is correct`,
      );
    }
    expect(worker.defects).toEqual([]);
  }
  world.report(`both data centers agreed ${Math.round((Date.now() - since) / 1000)} s after all was back`);
}

const stopAll = async (both: Running[]) => {
  for (const { fleet } of both) await fleet.recovery();
  for (const { fleet } of both) await fleet.stop();
  world.report('the devices have stopped');
};

test(
  'Link between data centers: cut under load, a process is killed meanwhile: both have all acknowledged samples afterwards',
  async () => {
    const random = createRandom(seed, 'link');
    const both = await startBoth('link');
    world.link.cut();
    world.report('the link is cut');
    for (const { fleet } of both) await fleet.progress(200);
    const victim = random.shuffled(both)[0] as Running;
    await victim.worker.kill();
    await victim.worker.start();
    world.report(`kill -9 of ${victim.worker.name}, and a new start without the other data center`);
    for (const { fleet } of both) await fleet.progress(200);
    world.link.open();
    const since = Date.now();
    world.report('the link is back');
    await stopAll(both);
    await expectNothingLost(both, since);
    for (const { worker } of both) await worker.stop();
  },
  TIMEOUT_MS,
);

test(
  'Data center: all its nodes and its process are killed: devices continue with the other, and both have all samples after a repair',
  async () => {
    const random = createRandom(seed, 'loss');
    const both = await startBoth('loss');
    const [lost, left] = random.shuffled(both) as [Running, Running];
    await Promise.all([lost.worker.kill(), ...lost.dataCenter.nodes.map((node) => node.kill())]);
    world.report(`kill -9 of the three nodes of ${lost.dataCenter.name} and of its process`);
    // As when the name of the broker leads to the other data center.
    const stand = await startWorker(left.dataCenter, lost.port, { MQTT_CLIENT_ID: 'ingest-moved' });
    for (const { fleet } of both) await fleet.progress(200);
    world.report(`the devices of ${lost.dataCenter.name} send to ${left.dataCenter.name}`);
    await world.cluster.start();
    const since = Date.now();
    world.report(`${lost.dataCenter.name} is back`);
    await stand.stop();
    await lost.worker.start();
    await stopAll(both);
    await createJudge({ cluster: world.cluster, config: left.dataCenter.config }).repair();
    world.report('repaired');
    expect(stand.defects).toEqual([]);
    await expectNothingLost(both, since);
  },
  TIMEOUT_MS,
);
