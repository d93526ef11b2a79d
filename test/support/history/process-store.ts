import type { Store } from '../../../api/store/index.ts';
import { type Hour, planHours } from '../../../api/store/measurements/hours.ts';
import { partsFor } from '../../../schema/rules.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The parts of the store that a process needs, by role. */
const PARTS: Record<'ingest' | 'pack' | 'read', Array<Exclude<keyof Store, 'groups'>>> = {
  ingest: [],
  pack: ['packing', 'packProgress'],
  read: ['packProgress', 'packed', 'samples', 'scans'],
};

/** The tables of `store.write` that ingest needs. */
const INGEST_TABLES = ['history', 'lateDays', 'lateArrivals', 'registry'] as const;

/** Functions that only compute. */
const SYNCHRONOUS = new Set(['sensorWrites']);

/** Functions that write or delete. A process may die after one of these. */
const WRITES = /\.(commit|write|remove)/;

/**
 * Wraps the store for one process: each request waits before it is sent and before its answer arrives, and the process may
 * die after any of its writes, without a trace.
 */
export function storeOfProcess(
  store: Store,
  {
    role,
    time,
    delay,
    diesAfter = Number.POSITIVE_INFINITY,
  }: {
    role: keyof typeof PARTS;
    time: VirtualTime;
    /** ms before a request is sent, and before its answer arrives, by part and function */
    delay: (name: string) => number;
    /** number of writes */
    diesAfter?: number;
  },
) {
  let writes = 0;
  const isDead = () => writes >= diesAfter;
  const silence = () => new Promise<never>(() => {});

  /** A delay of 0 is not an event, because most requests are answered at the moment in which they are sent. */
  async function pass(name: string) {
    const ms = delay(name);
    if (ms > 0) await time.sleep(ms);
  }

  const slow =
    <Args extends unknown[], Result>(name: string, request: (...args: Args) => Result) =>
    async (...args: Args): Promise<Awaited<Result>> => {
      await pass(name);
      if (isDead()) return silence();
      const answer = await time.real(async () => await request(...args));
      if (WRITES.test(name)) writes++;
      if (isDead()) return silence();
      await pass(name);
      return answer;
    };

  const slowPart = (path: string, part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => {
        if (member !== null && typeof member === 'object') return [name, slowPart(`${path}.${name}`, member)];
        const isUnchanged = typeof member !== 'function' || SYNCHRONOUS.has(name);
        return [name, isUnchanged ? member : slow(`${path}.${name}`, member.bind(part))];
      }),
    );

  // Readers of short ranges do not use the copies of days. Here they use them, because the copies must be correct too.
  const parts = { ...store, packed: { ...store.packed, readStatistics: store.packed.readByDays } };
  const entries = PARTS[role].map((name) => [name, slowPart(name, parts[name])]);
  const tables =
    role === 'ingest' ? INGEST_TABLES.map((name) => [name, slowPart(name, store.write[name])]) : [];
  const commit = slow('measurements.commit', store.write.samples);
  const write = {
    ...store.write,
    ...Object.fromEntries(tables),
    /** Each hour of a message is a request of its own. */
    async samples(
      device: Parameters<Store['write']['samples']>[0],
      series: Parameters<Store['write']['samples']>[1],
    ) {
      const hours = planHours(series, partsFor(device.sensors.size));
      await Promise.all(hours.map((hour) => commit(device, seriesOf(hour))));
      return hours;
    },
  };
  return {
    store: { ...Object.fromEntries(entries), write } as Store,
    get isDead() {
      return isDead();
    },
  };
}

const seriesOf = ({ pieces }: Hour) =>
  pieces.map(({ sensor, times, values, from, to }) => ({
    sensor,
    times: times.slice(from, to),
    values: values.slice(from, to),
  }));
