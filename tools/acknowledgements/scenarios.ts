import { setTimeout as sleep } from 'node:timers/promises';
import type { Disk } from './disk.ts';
import type { Load, Publisher } from './publisher.ts';
import type { Sink } from './sink.ts';
import type { Subject } from './subjects.ts';

export type Run = {
  subject: Subject;
  publisher: Publisher;
  sink: Sink;
  disk: Disk | null;
  trace: (line: string) => void;
};

export interface Scenario {
  title: string;
  needs?: 'consumer' | 'disk';
  act: (run: Run) => Promise<void>;
}

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

const programs = ({ parts: { database, broker, consumer } }: Subject) =>
  [database, broker, consumer].filter((part) => part !== undefined);

export async function startAll(subject: Subject) {
  for (const part of programs(subject)) await part.start();
}

export async function stopAll(subject: Subject) {
  for (const part of programs(subject).reverse()) await part.stop();
}

/** Without a queue, the broker would acknowledge nothing while the database is away. */
async function leave({ sink }: Run) {
  await sleep(SAVED_MS);
  if (sink.isQueued) await sink.away();
}

async function publishAll({ publisher }: Run, resume: () => unknown) {
  await publisher.publish(LARGE);
  await resume();
  await publisher.publish(LARGE);
}

/** Calls `act` while messages are under way. */
async function publishUntil(count: number, { publisher }: Run, act: () => Promise<unknown>) {
  const published = publisher.publish(STEADY).then(() => true);
  while (publisher.acknowledged.size < count && !(await Promise.race([published, sleep(1)])));
  await act();
  await published;
}

export const SCENARIOS: Record<string, Scenario> = {
  overflow: {
    title: 'subscriber away',
    async act(run) {
      await run.sink.away();
      await publishAll(run, () => run.sink.back());
    },
  },
  slow: {
    title: 'subscriber stalls',
    async act(run) {
      run.sink.stall();
      await publishAll(run, () => run.sink.resume());
    },
  },
  consumer: {
    title: '`kill -9` of the consumer',
    needs: 'consumer',
    act: (run) =>
      publishUntil(BEFORE_KILL / 2, run, async () => {
        await run.subject.parts.consumer?.kill();
        await run.subject.parts.consumer?.start();
      }),
  },
  broker: {
    title: '`kill -9` of the broker',
    async act(run) {
      await leave(run);
      await publishUntil(BEFORE_KILL, run, () => run.subject.parts.broker.kill());
      await run.subject.parts.broker.start();
      await run.sink.back();
    },
  },
  disk: {
    title: 'restart with a full disk',
    needs: 'disk',
    async act(run) {
      await leave(run);
      await run.disk?.fill(FREE_BYTES);
      await run.publisher.publish(FILLING);
      run.trace('all programs are stopped');
      await stopAll(run.subject);
      await run.disk?.free();
      await startAll(run.subject);
      await run.sink.back();
    },
  },
  power: {
    title: 'power cut',
    needs: 'disk',
    async act(run) {
      await leave(run);
      await publishUntil(BEFORE_KILL, run, async () => {
        await run.disk?.cutPower();
        run.trace('power cut');
        for (const part of programs(run.subject)) await part.kill();
      });
      await run.disk?.restorePower();
      await startAll(run.subject);
      await run.sink.back();
    },
  },
};
