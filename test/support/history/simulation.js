import pino from 'pino';
import { createLateDayNotes, createLateWriter } from '../../../api/ingest/late-writer.js';
import { createPartitionWatch, createSampleWriter } from '../../../api/ingest/sample-writer.js';
import { createRetry } from '../../../api/store/retry.js';
import { closingOf, DAY_MS, HOUR_MS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { createTestPacker } from '../packing.js';
import { HOURS, makeMessage } from './messages.js';
import { storeOfProcess } from './process-store.js';
import { createReaders } from './readers.js';
import { createKnown } from './samples.js';
import { createVirtualTime } from './virtual-time.js';
import { register } from './world.js';

/** @import { LateWriter } from '../../../api/ingest/late-writer.js' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { SentMessage } from './messages.js' */
/** @import { World, WorldDevice } from './world.js' */

/** @typedef {{ now: () => number }} Clock */

const MINUTE_MS = 60_000;
const logger = pino({ level: 'silent' });
const nothing = () => {};

/** A simulation goes on until batches have expired, all second passes are over, and everything is read a last time, in ms. */
const DURATION_MS = 4.5 * DAY_MS;

const PROCESSES = 4;
const MESSAGES = 40;
const READERS = 40;
const LATE_PACKERS = 12;

/** Requests between which much may happen. Each simulation draws some that are slow, so that rare meetings of slow ones come up. */
const REQUESTS = [
  'measurements.commit',
  'history.writeSamples',
  'history.writeLate',
  'packing.devicePage',
  'packing.blockPage',
  'packing.historyHour',
  'packing.writeSamples',
  'packing.writeStatistics',
  'packing.readStatistics',
  'packProgress.read',
  'packProgress.writePacked',
  'packed.readStatistics',
  'packed.readSamples',
  'samples.readHour',
];

/**
 * What breaks a rule of history, to see that the checks notice: by wrapping the parts that a process is made of.
 *
 * @typedef {object} Mistake
 * @property {string[]} [slow] requests that are to be slow, so that the mistake shows, or only their `request` or `answer`; default: drawn
 * @property {number} [skewMs] how far each clock may be off; as far as the clock check allows where nothing is given
 * @property {(clock: Clock) => Clock} [ingestClock] made anew for each message
 * @property {(late: LateWriter) => LateWriter} [late]
 * @property {(store: Store, clock: Clock) => Store} [ingestStore]
 * @property {(store: Store, clock: Clock) => Store} [packerStore]
 * @property {(store: Store, world: World) => Store} [readerStore]
 */

/**
 * Some days of two devices, of four processes that take their messages and pack, and of readers, by a clock that is held here.
 *
 * @param {object} options
 * @param {World} options.world
 * @param {number} options.seed
 * @param {Mistake} [options.mistake]
 * @returns {Promise<string[]>} what was found wrong
 */
export async function simulate({ world, seed, mistake = {} }) {
  const { store } = world;
  const random = createRandom(seed, 'history');
  const time = createVirtualTime(world.installedAt, world.setClock);
  const known = { acknowledged: createKnown(), sent: createKnown() };
  /** @type {Set<WorldDevice>} */
  const registered = new Set();
  /** @type {string[]} */
  const faults = [];
  const chance = (/** @type {number} */ share) => random.uniform() < share;
  const most = mistake.skewMs ?? MOST_CLOCK_DIFFERENCE_MS;
  // Half of them are as far off as they may be, to either side.
  const skews = Array.from({ length: PROCESSES }, (_, n) =>
    n < 2 ? /** @type {number} */ ([-most, most][n]) : random.between(-most, most),
  );

  const slow = new Set(mistake.slow ?? random.shuffled(REQUESTS).slice(0, 3));

  /** Mostly at once, sometimes minutes, seldom hours: ms that a request, or its answer, is on its way. @param {string} name @param {string} phase */
  function delay(name, phase) {
    if (!chance(slow.has(name) || slow.has(`${name} ${phase}`) ? 0.5 : 0.02)) return 0;
    return chance(0.9) ? random.between(3 * MINUTE_MS, 30 * MINUTE_MS) : random.between(0, 2 * HOUR_MS);
  }

  /** @param {'ingest' | 'pack' | 'read'} role @param {number} skew ms @param {number} [diesAfter] writes */
  const createProcess = (role, skew, diesAfter) => ({
    clock: { now: () => Math.round(time.now + skew), isTrusted: true },
    store: storeOfProcess(store, { role, time, delay, diesAfter }).store,
  });
  const retry = createRetry({ logger, onRetry: nothing });

  const anySkew = () => /** @type {number} */ (skews[Math.floor(random.between(0, PROCESSES))]);
  const diesSometimes = () => (chance(0.2) ? 1 + Math.floor(random.between(0, 4)) : undefined);

  /** @param {SentMessage} message @param {number} tries */
  async function deliver(message, tries) {
    // A broker brings again what was not acknowledged, and sometimes what was.
    if (tries > 1 && chance(0.5))
      time.at(time.now + random.between(0, 3 * HOUR_MS), () => deliver(message, tries - 1));
    const { store: plain, clock } = createProcess('ingest', anySkew(), diesSometimes());
    const own = mistake.ingestStore?.(plain, clock) ?? plain;
    const days = createLateDayNotes({ store: own.lateDays, retry });
    const late = createLateWriter({ store: own.history, retry, days, onLate: nothing });
    const writer = createSampleWriter({
      store: own.measurements,
      retry,
      partitions: createPartitionWatch({ logger, onLarge: nothing }),
      clock: /** @type {any} */ (mistake.ingestClock?.(clock) ?? clock),
      late: mistake.late?.(late) ?? late,
    });
    const { device, series, rows } = message;
    if (!registered.has(device)) await register(own, device, clock.now());
    registered.add(device);
    for (const { key, samples } of series) known.sent.add(key, samples);
    const sensors = new Map(device.sensors.map((sensor) => [sensor.key, sensor]));
    const sender = /** @type {any} */ ({ ...device, sensors });
    await writer.write(sender, writer.plan(sender, rows));
    for (const { key, samples } of series) known.acknowledged.add(key, samples);
  }

  /** @param {number} skew ms */
  async function pack(skew) {
    const { store: plain, clock } = createProcess('pack', skew, diesSometimes());
    // Without leases: it is as if each were lost the moment that it is taken.
    const own = mistake.packerStore?.(plain, clock) ?? plain;
    await createTestPacker({ store: own, groups: 1, clock: clock.now }).packDue();
  }

  /** @param {string[]} found */
  const note = (found) =>
    faults.push(...found.map((fault) => `${new Date(time.now).toISOString()} ${fault}`));

  async function read() {
    const own = createProcess('read', 0).store;
    const seen = mistake.readerStore?.(own, world) ?? own;
    note(await createReaders({ store: seen, random, world, known }).readOne());
  }

  for (let n = 0; n < MESSAGES; n++) {
    const { message, at } = makeMessage(random, world);
    time.at(at, () => deliver(message, chance(0.3) ? 3 : 1));
  }
  for (let hour = world.start; hour < world.start + HOURS * HOUR_MS; hour += HOUR_MS) {
    // As soon as it has closed by the packer's own clock; sometimes a second one comes meanwhile.
    const skew = anySkew();
    time.at(closingOf(hour) - skew, () => pack(skew));
    const other = anySkew();
    if (chance(0.25)) time.at(closingOf(hour) - other + random.between(0, 20 * MINUTE_MS), () => pack(other));
  }
  for (let n = 0; n < LATE_PACKERS; n++) {
    const skew = anySkew();
    time.at(world.installedAt + random.between(0, DURATION_MS), () => pack(skew));
  }
  for (let n = 0; n < READERS; n++) {
    // Half of them while hours close.
    const hour = world.start + Math.floor(random.between(0, HOURS)) * HOUR_MS;
    const at =
      n % 2 === 0
        ? closingOf(hour) + random.between(0, 30 * MINUTE_MS)
        : world.installedAt + random.between(0, DURATION_MS);
    time.at(at, read);
  }
  const readers = createReaders({ store, random, world, known });
  for (let at = DURATION_MS / 3; at <= DURATION_MS; at += DURATION_MS / 3) {
    await time.run(world.installedAt + at);
    await time.real(() => world.expire(time.now));
    note(await readers.readAll());
  }
  return faults;
}
