import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.js';

/** @import { Cluster } from '../../../infra/engine/cluster.js' */
/** @import { Random } from '../../../simulator/random.js' */
/** @import { Mosquitto } from '../../support/mosquitto.js' */
/** @import { MqttWire } from '../../support/mqtt-wire.js' */
/** @import { Gate } from '../../support/tcp-gate.js' */
/** @import { Fault } from './chaos.js' */
/** @import { Worker } from './worker.js' */

/** How long things stay away, in ms. */
const AWAY_MS = { from: 500, to: 4000 };
const DATABASE_AWAY_MS = 20_000;
const WITHIN_MS = 120_000;

/** @param {Random} random @param {{ from: number, to: number }} [range] how long something is away is part of what is played */
const away = (random, { from, to } = AWAY_MS) => sleep(random.between(from, to));

/** @template T @param {T[]} items @param {Random} random @returns {T} */
const oneOf = (items, random) => /** @type {T} */ (items[Math.floor(random.uniform() * items.length)]);

/**
 * @param {Cluster} cluster
 * @param {Random} random
 * @returns {Fault[]}
 */
export function databaseFaults(cluster, random) {
  const victim = oneOf(cluster.nodes, random);
  return [
    {
      title: `kill -9 of the database's ${victim.name}`,
      async strike() {
        await victim.kill();
        await away(random);
        await cluster.start();
      },
    },
    {
      title: `the whole database away for ${DATABASE_AWAY_MS / 1000} s`,
      async strike() {
        await cluster.stop();
        await sleep(DATABASE_AWAY_MS);
        await cluster.start();
      },
    },
  ];
}

/** @param {Worker} worker @param {Random} random @returns {Fault} */
export const killWorker = (worker, random) => ({
  title: `kill -9 of ${worker.name}`,
  async strike() {
    await worker.kill();
    await away(random);
    await worker.start();
  },
});

/** @param {string} between @param {Gate} gate @param {Random} random @returns {Fault[]} */
export const cuts = (between, gate, random) =>
  /** @type {const} */ (['refuse', 'reset', 'silence']).map((how) => ({
    title: `the network between ${between} cut (${how})`,
    async strike() {
      gate.cut(how);
      await away(random);
      await gate.open();
    },
  }));

/**
 * Devices are let in again when ingest has subscribed: Mosquitto 2.0.11 forgets shared subscriptions when it is
 * restarted, and acknowledges to its publishers what nobody has subscribed to.
 *
 * @param {Mosquitto} broker
 * @param {{ devices: Gate, wires: MqttWire[] }} ways to the broker
 * @param {Random} random
 * @returns {Fault}
 */
export const restartMosquitto = (broker, { devices, wires }, random) => ({
  title: 'Mosquitto stopped in order',
  async strike() {
    devices.cut('refuse');
    const before = wires.map(({ connections }) => connections.length);
    await broker.stop();
    await away(random);
    await broker.start();
    await until(
      () =>
        wires.every(({ connections }, i) => connections.slice(before[i]).some(({ granted }) => granted > 0)),
      { withinMs: WITHIN_MS, what: 'the subscriptions of ingest' },
    );
    await devices.open();
  },
});
