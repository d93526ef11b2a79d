import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.ts';
import type { Disk } from './disk.ts';
import type { Load, Publisher } from './publisher.ts';
import type { Component, Subject } from './subjects.ts';

export type Run = Subject & {
  publisher: Publisher;
  disk: Disk;
  trace: (line: string) => void;
  signal: AbortSignal;
};

/** Beyond each known limit of a queue: 1000 messages, and 256 MiB in infra/mosquitto. */
const LARGE: Load = { count: 1500, bytes: 200_000 };
/** Fewer messages than the queues hold, and more bytes than are free. */
const FILLING: Load = { count: 900, bytes: 200_000 };
const FREE_BYTES = 1_000_000;
/** Fewer messages than the queues hold. The kill comes after 15 s. */
const STEADY: Load = { count: 950, bytes: 200, rate: 60 };
const BEFORE_KILL = 900;
/** The Mosquitto of infra/mosquitto saves every 10 s, so it has saved the session of the subscriber. */
const SAVED_MS = 12_000;

const componentsOf = ({ database, broker, consumer }: Subject) =>
  [database, broker, consumer].filter((component): component is Component => component !== undefined);

export async function startAll(subject: Subject) {
  for (const component of componentsOf(subject)) await component.start();
}

export async function stopAll(subject: Subject) {
  for (const component of componentsOf(subject).reverse()) await component.stop();
}

/** Without a consumer, the broker would acknowledge nothing while the database is away. */
async function stopConsumer({ consumer, signal }: Run) {
  await sleep(SAVED_MS, null, { signal });
  await consumer?.stop();
}

/** Calls `interrupt` while messages are under way. */
async function publishUntil(count: number, { publisher }: Run, interrupt: () => Promise<unknown>) {
  const published = publisher.publish(STEADY).then(() => true);
  while (publisher.acknowledged.size < count && !(await Promise.race([published, sleep(1)])));
  await interrupt();
  await published;
}

export const SCENARIOS = {
  async away({ consumer, database, publisher, trace }) {
    const receiver = consumer ?? database;
    await receiver?.stop();
    trace('the receiver is away');
    await publisher.publish(LARGE);
    await receiver?.start();
    await publisher.publish(LARGE);
  },

  async slow({ consumer, database, publisher, trace }) {
    const receiver = database ?? consumer;
    receiver?.signal('SIGSTOP');
    trace('the receiver stalls');
    await publisher.publish(LARGE);
    trace('the receiver resumes');
    receiver?.signal('SIGCONT');
    await publisher.publish(LARGE);
  },

  async consumer(run) {
    const { consumer } = run;
    if (!consumer) throw new MillraceError('failed', 'it has no consumer');
    await publishUntil(BEFORE_KILL / 2, run, async () => {
      await consumer.kill();
      run.trace('the consumer is killed');
      await consumer.start();
    });
  },

  async broker(run) {
    await stopConsumer(run);
    await publishUntil(BEFORE_KILL, run, () => run.broker.kill());
    run.trace('the broker is killed');
    await startAll(run);
  },

  async disk(run) {
    await stopConsumer(run);
    await run.disk.fill(FREE_BYTES);
    await run.publisher.publish(FILLING);
    await stopAll(run);
    run.trace('all programs are stopped');
    await run.disk.free();
    await startAll(run);
  },

  async power(run) {
    await stopConsumer(run);
    await publishUntil(BEFORE_KILL, run, async () => {
      await run.disk.cutPower();
      run.trace('power cut');
      for (const component of componentsOf(run)) await component.kill();
    });
    await run.disk.restorePower();
    await startAll(run);
  },
} satisfies Record<string, (run: Run) => Promise<void>>;
