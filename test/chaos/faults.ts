import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../support/http/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { type Fault, LINKS, NODES, PROCESSES, type Process } from './plan.ts';
import type { Parts } from './world.ts';

/** After a restart of Mosquitto, in ms. */
const SUBSCRIBED_WITHIN_MS = 120_000;

/** Lets a part fail for the planned time. Settles when the failure is over. */
export async function inject(parts: Parts, fault: Fault) {
  const { kind, target, lasts, how = 'reset', by = 0 } = fault;
  const { cluster, kafka } = parts.world;
  const isOver = () => sleep(lasts);
  const signaled = (signal: NodeJS.Signals) => receiverOf(parts, target).signal(signal);
  if (kind === 'pause') {
    signaled('SIGSTOP');
    await isOver();
    signaled('SIGCONT');
  } else if (kind === 'clock') {
    workerOf(parts, target).send({ stepMs: by });
    await isOver();
    workerOf(parts, target).send({ stepMs: 0 });
  } else if (kind === 'cut') {
    proxyOf(parts, target).cut(how);
    await isOver();
    await proxyOf(parts, target).open();
  } else if (kind === 'outage') {
    await cluster.stop();
    await isOver();
    await cluster.start();
  } else if (target === 'Mosquitto') {
    await restartMosquitto(parts, fault);
  } else if (target === 'Kafka') {
    await kafka.kill();
    await isOver();
    await kafka.start();
  } else if (NODES.includes(target)) {
    await nodeOf(parts, target).kill();
    await isOver();
    await cluster.start();
  } else {
    await workerOf(parts, target).kill();
    await isOver();
    await workerOf(parts, target).start();
  }
}

/**
 * Devices may connect again when ingest has subscribed. Mosquitto 2.0.11 forgets shared subscriptions at a restart. It then
 * acknowledges messages to their publishers, although nobody has subscribed to them.
 */
async function restartMosquitto({ broker, devices, mqttProxies }: Parts, { kind, lasts }: Fault) {
  devices.Mosquitto.cut('refuse');
  const all = Object.values(mqttProxies);
  const before = all.map(({ connections }) => connections.length);
  await (kind === 'kill' ? broker.kill() : broker.stop());
  await sleep(lasts);
  await broker.start();
  await until(
    () => all.every(({ connections }, i) => connections.slice(before[i]).some(({ granted }) => granted > 0)),
    { withinMs: SUBSCRIBED_WITHIN_MS, what: 'the subscriptions of ingest' },
  );
  await devices.Mosquitto.open();
}

const isProcess = (target: string): target is Process => PROCESSES.some((name) => name === target);

function workerOf({ workers }: Parts, target: string) {
  if (!isProcess(target)) throw new RangeError(`no process is called ${target}`);
  return workers[target];
}

function nodeOf({ world }: Parts, target: string) {
  const node = world.cluster.nodes.find(({ name }) => name === target);
  if (!node) throw new RangeError(`no node is called ${target}`);
  return node;
}

function receiverOf(parts: Parts, target: string): { signal: (signal: NodeJS.Signals) => unknown } {
  if (target === 'Mosquitto') return parts.broker;
  return NODES.includes(target) ? nodeOf(parts, target) : workerOf(parts, target);
}

function proxyOf({ devices, mqttProxies }: Parts, target: string): TcpProxy {
  const proxies = [
    devices.embedded,
    devices.Mosquitto,
    mqttProxies['shared-1'].tcpProxy,
    mqttProxies['shared-2'].tcpProxy,
  ];
  const proxy = proxies[(LINKS as readonly string[]).indexOf(target)];
  if (!proxy) throw new RangeError(`no link is called ${target}`);
  return proxy;
}
