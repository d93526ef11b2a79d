import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { steadyPort } from '../../infra/engine/ports.ts';
import { createRandom } from '../../simulator/random.ts';
import { startFleet } from '../cluster/kit/fleet.ts';
import { createJudge } from '../cluster/kit/judge.ts';
import { createWorker, type Worker } from '../cluster/kit/worker.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { DATA_CENTERS, type Side, type Sides, startSides } from './kit/sides.ts';

// Real processes and simulated devices on both sides. Each side has a ledger, and both sides must have both ledgers.

const TIMEOUT_MS = 900_000;
/** Two cores also run six nodes. */
const DEVICES = 15;

const seed = jest.getSeed() >>> 0;
let world: Sides;

beforeAll(async () => {
  world = await startSides({ keyspace: 'chaos' });
  world.report(`repeat these faults with: npm run test:datacenters -- --seed ${jest.getSeed()}`);
}, TIMEOUT_MS);

afterAll(async () => {
  world?.link.open();
  await world?.stop();
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

type Fleet = ReturnType<typeof startDevices>;
type Running = { side: Side; port: string; worker: Worker; fleet: Fleet };

/** A process that is broker, ingest, packer and API, in the data center of a side. */
async function startWorker({ name, settings }: Side, port: string, others: Record<string, string> = {}) {
  const worker = createWorker(`the process in ${name}`, { ...settings, MQTT_PORT: port, ...others });
  afterwards(worker.kill);
  await worker.start();
  return worker;
}

/** @param name of the drill */
function startDevices(name: string, side: Side, port: string) {
  const prefix = `${name}-${side.name}`;
  const ledger = join(world.directory, `${prefix}.ledger`);
  const fleet = startFleet({ broker: `mqtt://127.0.0.1:${port}`, ledger, seed, devices: DEVICES, prefix });
  afterwards(fleet.kill);
  return { ledger, ...fleet };
}

async function startBothSides(name: string): Promise<[Running, Running]> {
  const both: Running[] = [];
  for (const side of world.sides) {
    const port = String(await steadyPort());
    // One of the processes acknowledges from its journal.
    const journal = side.name === DATA_CENTERS[0] ? 'always' : 'busy';
    const worker = await startWorker(side, port, { INGEST_JOURNAL: journal });
    both.push({ side, port, worker, fleet: startDevices(name, side, port) });
  }
  for (const { fleet } of both) await fleet.progress(100);
  return both as [Running, Running];
}

/** Each side reads each ledger at LOCAL_QUORUM, and `latest` is the newest sample. */
async function expectNothingLost(both: Running[], since: number) {
  for (const { side, worker } of both) {
    const judge = createJudge({ cluster: world.cluster, config: side.config });
    for (const { side: sender, fleet } of both) {
      const { acknowledged, stored } = await judge.agreement(fleet.ledger);
      expect(acknowledged).toBeGreaterThan(2000);
      world.report(
        `read in ${side.name}: ${acknowledged} samples acknowledged in ${sender.name}, ${stored} stored: none is lost, and latest is correct`,
      );
    }
    expect(worker.defects).toEqual([]);
  }
  world.report(`both sides agreed ${Math.round((Date.now() - since) / 1000)} s after all was back`);
}

const stopAll = async (both: Running[]) => {
  for (const { fleet } of both) await fleet.recovery();
  for (const { fleet } of both) await fleet.stop();
  world.report('the devices have stopped');
};

test(
  'Link between data centers: cut under load, a process is killed meanwhile: both sides have all acknowledged samples afterwards',
  async () => {
    const random = createRandom(seed, 'link');
    const both = await startBothSides('link');
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
    const both = await startBothSides('loss');
    const [lost, left] = random.shuffled(both) as [Running, Running];
    await Promise.all([lost.worker.kill(), ...lost.side.nodes.map((node) => node.kill())]);
    world.report(`kill -9 of the three nodes of ${lost.side.name} and of its process`);
    // As when the name of the broker leads to the other data center.
    const stand = await startWorker(left.side, lost.port, { MQTT_CLIENT_ID: 'ingest-moved' });
    for (const { fleet } of both) await fleet.progress(200);
    world.report(`the devices of ${lost.side.name} send to ${left.side.name}`);
    await world.cluster.start();
    const since = Date.now();
    world.report(`${lost.side.name} is back`);
    await stand.stop();
    await lost.worker.start();
    await stopAll(both);
    await createJudge({ cluster: world.cluster, config: left.side.config }).repair();
    world.report('repaired');
    expect(stand.defects).toEqual([]);
    await expectNothingLost(both, since);
  },
  TIMEOUT_MS,
);
