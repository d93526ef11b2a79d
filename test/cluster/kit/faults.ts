import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.js';

/** @import { Cluster } from '../../../infra/engine/cluster.js' */
/** @import { Random } from '../../../simulator/random.js' */
/** @import { Mosquitto } from '../../support/mqtt/mosquitto.js' */
/** @import { MqttWire } from '../../support/mqtt/wire.js' */
/** @import { Gate } from '../../support/http/tcp-gate.js' */
/** @import { Fault } from './chaos.js' */
/** @import { Worker } from './worker.js' */

/** Range of the time for which a component stays unavailable, in ms. */
const OUTAGE_MS = { from: 500, to: 4000 };
/** The pause between the stop and the start of all nodes, in ms. Stop and start themselves take half a minute. */
const DATABASE_OUTAGE_MS = 10_000;
const WITHIN_MS = 120_000;

/** The time of an outage is part of the scenario. @param {Random} random @param {{ from: number, to: number }} [range] in ms */
const outage = (random, { from, to } = OUTAGE_MS) => sleep(random.between(from, to));

/** @template T @param {T[]} items @param {Random} random @returns {T} */
const oneOf = (items, random) => /** @type {T} */ (items[Math.floor(random.uniform() * items.length)]);

/** @param {Cluster} cluster @param {Random} random @returns {Fault[]} */
export function databaseFaults(cluster, random) {
  const victim = oneOf(cluster.nodes, random);
  return [
    {
      title: `kill -9 of the database's ${victim.name}`,
      async inject() {
        await victim.kill();
        await outage(random);
        await cluster.start();
      },
    },
    {
      title: `the whole database is down for more than ${DATABASE_OUTAGE_MS / 1000} s`,
      async inject() {
        await cluster.stop();
        await sleep(DATABASE_OUTAGE_MS);
        await cluster.start();
      },
    },
  ];
}

/** @param {Worker} worker @param {Random} random @returns {Fault} */
export const killWorker = (worker, random) => ({
  title: `kill -9 of ${worker.name}`,
  async inject() {
    await worker.kill();
    await outage(random);
    await worker.start();
  },
});

/** @param {string} between @param {Gate} gate @param {Random} random @returns {Fault[]} */
export const cuts = (between, gate, random) =>
  /** @type {const} */ (['refuse', 'reset', 'silence']).map((how) => ({
    title: `network cut between ${between} (${how})`,
    async inject() {
      gate.cut(how);
      await outage(random);
      await gate.open();
    },
  }));

/**
 * Devices may connect again when ingest has subscribed. Mosquitto 2.0.11 forgets shared subscriptions at a restart. It then
 * acknowledges messages to their publishers, although nobody has subscribed to them.
 *
 * @param {Mosquitto} broker
 * @param {{ devices: Gate, wires: MqttWire[] }} connections gates and wires to the broker
 * @param {Random} random
 * @returns {Fault}
 */
export const restartMosquitto = (broker, { devices, wires }, random) => ({
  title: 'Mosquitto restarts after a clean stop',
  async inject() {
    devices.cut('refuse');
    const before = wires.map(({ connections }) => connections.length);
    await broker.stop();
    await outage(random);
    await broker.start();
    await until(
      () =>
        wires.every(({ connections }, i) => connections.slice(before[i]).some(({ granted }) => granted > 0)),
      { withinMs: WITHIN_MS, what: 'the subscriptions of ingest' },
    );
    await devices.open();
  },
});
