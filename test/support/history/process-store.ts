import { planHours } from '../../../api/store/measurements/hours.js';
import { partsFor } from '../../../schema/rules.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Hour } from '../../../api/store/measurements/hours.js' */
/** @import { VirtualTime } from './virtual-time.js' */

/** The parts of the store that a process needs, by role. @type {Record<'ingest' | 'pack' | 'read', Array<keyof Store>>} */
const PARTS = {
  ingest: [],
  pack: ['packing', 'packProgress'],
  read: ['packProgress', 'packed', 'samples', 'scans'],
};

/** The tables of `store.write` that ingest needs. */
const INGEST_TABLES = /** @type {const} */ (['history', 'lateDays', 'lateArrivals', 'registry']);

/** Functions that only compute. */
const SYNCHRONOUS = new Set(['sensorWrites']);

/** Functions that write. A process may die after one of these. */
const WRITES = /\.(commit|write)/;

/**
 * Wraps the store for one process: each request waits before it is sent and before its answer arrives, and
 * the process may die after any of its writes, without a trace.
 *
 * @param {Store} store
 * @param {object} options
 * @param {keyof typeof PARTS} options.role
 * @param {VirtualTime} options.time
 * @param {(name: string, phase: 'request' | 'answer') => number} options.delay ms before a request is sent, and before its
 *   answer arrives, by part and function
 * @param {number} [options.diesAfter] number of writes
 */
export function storeOfProcess(store, { role, time, delay, diesAfter = Number.POSITIVE_INFINITY }) {
  let writes = 0;
  const isDead = () => writes >= diesAfter;
  const silence = () => new Promise(() => {});

  /** A delay of 0 is not an event, because most requests are answered at the moment in which they are sent. */
  async function pass(/** @type {string} */ name, /** @type {'request' | 'answer'} */ phase) {
    const ms = delay(name, phase);
    if (ms > 0) await time.sleep(ms);
  }

  /** @param {string} name @param {(...args: any[]) => any} request */
  const slow =
    (name, request) =>
    /** @param {any[]} args */
    async (...args) => {
      await pass(name, 'request');
      if (isDead()) return silence();
      const answer = await time.real(async () => request(...args));
      if (WRITES.test(name)) writes++;
      if (isDead()) return silence();
      await pass(name, 'answer');
      return answer;
    };

  /** @param {string} path @param {Record<string, any>} part @returns {Record<string, any>} */
  const slowPart = (path, part) =>
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
    /** Each hour of a message is a request of its own. @type {Store['write']['samples']} */
    async samples(device, series) {
      const hours = planHours(series, partsFor(device.sensors.size));
      await Promise.all(hours.map((hour) => commit(device, seriesOf(hour))));
      return hours;
    },
  };
  return {
    store: /** @type {Store} */ ({ ...Object.fromEntries(entries), write }),
    get isDead() {
      return isDead();
    },
  };
}

/** @param {Hour} hour */
const seriesOf = ({ pieces }) =>
  pieces.map(({ sensor, times, values, from, to }) => ({
    sensor,
    times: times.slice(from, to),
    values: values.slice(from, to),
  }));
