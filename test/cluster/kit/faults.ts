import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../infra/engine/cluster.ts';
import type { Random } from '../../../simulator/random.ts';
import type { TcpProxy } from '../../support/http/tcp-proxy.ts';
import type { Mosquitto } from '../../support/mqtt/mosquitto.ts';
import type { MqttProxy } from '../../support/mqtt/mqtt-proxy.ts';
import { until } from '../../support/until.ts';
import type { Fault } from './chaos.ts';
import type { Worker } from './worker.ts';

/** Range of the time for which a component stays unavailable, in ms. */
const OUTAGE_MS = { from: 500, to: 4000 };
/** The pause between the stop and the start of all nodes, in ms. Stop and start themselves take half a minute. */
const DATABASE_OUTAGE_MS = 10_000;
const WITHIN_MS = 120_000;

/** The time of an outage is part of the scenario. @param range in ms */
const outage = (random: Random, { from, to }: { from: number; to: number } = OUTAGE_MS) =>
  sleep(random.between(from, to));

const oneOf = <T>(items: T[], random: Random): T => items[Math.floor(random.uniform() * items.length)] as T;

export function databaseFaults(cluster: Cluster, random: Random): Fault[] {
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

export const killWorker = (worker: Worker, random: Random): Fault => ({
  title: `kill -9 of ${worker.name}`,
  async inject() {
    await worker.kill();
    await outage(random);
    await worker.start();
  },
});

export const cuts = (between: string, tcpProxy: TcpProxy, random: Random): Fault[] =>
  (['refuse', 'reset', 'silence'] as const).map((how) => ({
    title: `network cut between ${between} (${how})`,
    async inject() {
      tcpProxy.cut(how);
      await outage(random);
      await tcpProxy.open();
    },
  }));

/**
 * Devices may connect again when ingest has subscribed. Mosquitto 2.0.11 forgets shared subscriptions at a restart. It then
 * acknowledges messages to their publishers, although nobody has subscribed to them.
 * @param connections proxies in front of the broker
 */
export const restartMosquitto = (
  broker: Mosquitto,
  { devices, mqttProxies }: { devices: TcpProxy; mqttProxies: MqttProxy[] },
  random: Random,
): Fault => ({
  title: 'Mosquitto restarts after a clean stop',
  async inject() {
    devices.cut('refuse');
    const before = mqttProxies.map(({ connections }) => connections.length);
    await broker.stop();
    await outage(random);
    await broker.start();
    await until(
      () =>
        mqttProxies.every(({ connections }, i) =>
          connections.slice(before[i]).some(({ granted }) => granted > 0),
        ),
      { withinMs: WITHIN_MS, what: 'the subscriptions of ingest' },
    );
    await devices.open();
  },
});
