import pino from 'pino';
import { createLateDayNotes } from '../../../api/ingest/late-days.js';
import { createLateWriter } from '../../../api/ingest/late-writer.js';
import { createPartitionWatch } from '../../../api/ingest/partition-watch.js';
import { createSampleWriter } from '../../../api/ingest/sample-writer.js';
import { createPatience } from '../../../api/patience.js';
import { DAY_MS, HOUR_MS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { createTestPacker } from '../packing.js';
import { createExpiry } from './expiry.js';
import { makeMessage } from './messages.js';
import { storeOfProcess } from './process-store.js';
import { readAll, withStatisticsFirst } from './readers.js';
import { createKnown } from './samples.js';
import { createVirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;
const logger = pino({ level: 'silent' });
const nothing = () => {};

/** A simulation goes on until batches have expired, all second passes are over, and everything is read a last time, in ms. */
const DURATION_MS = 6 * DAY_MS;

/** So long the hours that are measured come to their closing, in ms. */
const BUSY_MS = 10 * HOUR_MS;

const PROCESSES = 4;
const MESSAGES = 60;
const READERS = 20;

/**
 * What breaks the rule of history, to see that the checks notice.
 *
 * @typedef {object} Breaks
 * @property {number} [skewMs] how far each clock may be off; as far as the clock check allows where nothing is said
 * @property {boolean} [withoutLateRows] ingest writes nothing into history
 * @property {boolean} [statisticsFirst] readers take statistics before packed_until
 */

/**
 * Some days of two devices, of four processes that take their messages and pack, and of readers: all on the real database,
 * by a clock that is held here.
 *
 * @param {object} parts
 * @param {import('../../../api/store/index.js').Store} parts.store
 * @param {import('cassandra-driver').Client} parts.database
 * @param {import('./world.js').World} parts.world
 * @param {number} parts.seed
 * @param {Breaks} [parts.breaks]
 * @returns {Promise<string[]>} what was found wrong
 */
export async function simulate({ store, database, world, seed, breaks = {} }) {
  const random = createRandom(seed, 'history');
  const time = createVirtualTime(world.installedAt);
  const known = { acknowledged: createKnown(), sent: createKnown() };
  const expiry = createExpiry({ time, database, world });
  /** @type {string[]} */
  const faults = [];
  const chance = (/** @type {number} */ share) => random.uniform() < share;
  const most = breaks.skewMs ?? MOST_CLOCK_DIFFERENCE_MS;
  // Half of them are as far off as they may be, to either side.
  const skews = Array.from({ length: PROCESSES }, (_, n) =>
    n < 2 ? [-most, most][n] : random.between(-most, most),
  );

  /** Mostly at once, sometimes minutes, seldom an hour: ms that a request, or its answer, is on its way. */
  function delay() {
    const luck = random.uniform();
    if (luck < 0.8) return 1;
    return luck < 0.97 ? random.between(0, 6 * MINUTE_MS) : random.between(0, 60 * MINUTE_MS);
  }

  /** @param {number} [diesAfter] writes */
  function createProcess(diesAfter) {
    const skew = /** @type {number} */ (skews[Math.floor(random.between(0, PROCESSES))]);
    const clock = { now: () => Math.round(time.now + skew), isTrusted: true };
    return {
      clock,
      patience: createPatience({ logger, onRetry: nothing }),
      ...storeOfProcess(store, { time, delay, diesAfter }),
    };
  }

  const diesSometimes = () => (chance(0.25) ? 1 + Math.floor(random.between(0, 4)) : undefined);

  /** @param {import('./messages.js').SentMessage} message @param {number} tries */
  async function deliver(message, tries) {
    // A broker brings again what was not acknowledged, and sometimes what was.
    if (tries > 1 && chance(0.5))
      time.at(time.now + random.between(0, 3 * HOUR_MS), () => deliver(message, tries - 1));
    const { store: own, clock, patience } = createProcess(diesSometimes());
    const days = createLateDayNotes({ store: own.lateDays, patience });
    const late = createLateWriter({ store: own.history, patience, days, onLate: nothing });
    const writer = createSampleWriter({
      store: own.measurements,
      patience,
      partitions: createPartitionWatch({ logger, onLarge: nothing }),
      clock: /** @type {any} */ (clock),
      late: breaks.withoutLateRows ? { write: async () => {} } : late,
    });
    for (const { key, samples } of message.series) known.sent.add(key, samples);
    await writer.write(/** @type {any} */ (message.device), message.rows, nothing);
    for (const { key, samples } of message.series) known.acknowledged.add(key, samples);
  }

  async function pack() {
    const { store: own, clock } = createProcess(diesSometimes());
    // Without leases: it is as if each were lost the moment that it is taken.
    const packer = createTestPacker({ store: own, groups: 1, clock: clock.now });
    await packer.packDue();
  }

  /** @param {boolean} atOnce nothing happens while it reads */
  async function read(atOnce) {
    const own = atOnce ? store : createProcess().store;
    const seen = breaks.statisticsFirst && !atOnce ? withStatisticsFirst(own, world) : own;
    const found = await readAll({ store: seen, random, world, known });
    faults.push(...found.map((fault) => `${new Date(time.now).toISOString()} ${fault}`));
  }

  for (let n = 0; n < MESSAGES; n++) {
    const { message, at } = makeMessage(random, world);
    time.at(at, () => deliver(message, 1 + Math.floor(random.between(0, 3))));
  }
  // While hours close often, so that some are packed at once; two packers meet now and then, later none comes for hours.
  const pause = (/** @type {number} */ at) => random.between(0, at < BUSY_MS ? 15 * MINUTE_MS : 6 * HOUR_MS);
  for (let at = 0; at < DURATION_MS; at += pause(at)) time.at(world.installedAt + at, pack);
  for (let n = 0; n < READERS; n++)
    time.at(world.installedAt + random.between(0, DURATION_MS), () => read(false));
  for (let at = 0; at < DURATION_MS; at += 12 * HOUR_MS) {
    await time.run(world.installedAt + at);
    await time.real(expiry.expire);
    await read(true);
  }
  await time.run(world.installedAt + DURATION_MS);
  await read(true);
  return faults;
}
