import pino from 'pino';
import { createLateWriter, LateArrivalNotes, LateDayNotes } from '../../../api/ingest/late-samples.ts';
import { RevisionWriter } from '../../../api/ingest/revisions.ts';
import { SampleWriter } from '../../../api/ingest/sample-writer.ts';
import { Retry } from '../../../api/store/sending/retry.ts';
import { closingOf, DAY_MS, HOUR_MS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.ts';
import { createRandom } from '../../../simulator/random.ts';
import { makeCorrection, type SentCorrection } from './corrections.ts';
import { HOURS, makeMessage, type SentMessage } from './messages.ts';
import { createTestPacker } from './packing.ts';
import { storeOfProcess } from './process-store.ts';
import { createReaders } from './readers.ts';
import { createKnown } from './samples.ts';
import { register, type SimulatedDevice, type SimulatedInstallation } from './simulated-installation.ts';
import { createVirtualTime } from './virtual-time.ts';

const MINUTE_MS = 60_000;
const logger = pino({ level: 'silent' });
const nothing = () => {};

/** Duration of a simulation, in ms. By then batches have expired, all second passes have ended, and all samples are read again. */
const DURATION_MS = 4.5 * DAY_MS;

const CORRECTED_DURATION_MS = 15 * DAY_MS;

const PROCESSES = 4;
const MESSAGES = 40;
const READERS = 40;
const LATE_PACKERS = 12;

/** Requests that may be slow. Each simulation draws some of them, so that rare combinations of slow requests occur. */
const REQUESTS = [
  'measurements.commit',
  'history.writeSamples',
  'history.writeLate',
  'packing.devicePage',
  'packing.blockPage',
  'packing.historyHour',
  'packing.writeSamples',
  'packing.deleteSamples',
  'packing.writeStatistics',
  'packing.readStatistics',
  'packProgress.read',
  'packProgress.writePacked',
  'packed.readStatistics',
  'packed.readSamples',
  'samples.readHour',
];

/**
 * Simulates some days of two devices, four processes that store their messages and pack, and readers, in virtual time.
 * @returns the faults
 */
export async function simulate({
  installation,
  seed,
  corrections = 0,
}: {
  installation: SimulatedInstallation;
  seed: number;
  /** number of corrections, some of which are repeated */
  corrections?: number;
}): Promise<string[]> {
  const { store } = installation;
  const durationMs = corrections > 0 ? CORRECTED_DURATION_MS : DURATION_MS;
  const random = createRandom(seed, 'history');
  const time = createVirtualTime(installation.installedAt, installation.setClock);
  const known = { acknowledged: createKnown(), sent: createKnown() };
  const registered: Set<SimulatedDevice> = new Set();
  const faults: string[] = [];
  const chance = (share: number) => random.uniform() < share;
  const maxSkew = MOST_CLOCK_DIFFERENCE_MS;
  // Half of the clocks have the largest error, in both directions.
  const skews = Array.from({ length: PROCESSES }, (_, n) =>
    n < 2 ? ([-maxSkew, maxSkew][n] as number) : random.between(-maxSkew, maxSkew),
  );

  const slow = new Set(random.shuffled(REQUESTS).slice(0, 3));

  /** Draws the delay of a request or its answer, in ms: mostly none, sometimes minutes, rarely hours. */
  function delay(name: string) {
    if (!chance(slow.has(name) ? 0.5 : 0.02)) return 0;
    return chance(0.9) ? random.between(3 * MINUTE_MS, 30 * MINUTE_MS) : random.between(0, 2 * HOUR_MS);
  }

  /** @param skew ms @param diesAfter writes */
  const createProcess = (role: 'ingest' | 'pack' | 'read', skew: number, diesAfter?: number) => ({
    clock: { now: () => Math.round(time.now + skew), isTrusted: true },
    store: storeOfProcess(store, { role, time, delay, diesAfter }).store,
  });
  const retry = new Retry({ logger, onRetry: nothing });

  const anySkew = () => skews[Math.floor(random.between(0, PROCESSES))] as number;
  const diesSometimes = () => (chance(0.2) ? 1 + Math.floor(random.between(0, 4)) : undefined);

  async function deliver(message: SentMessage, tries: number) {
    // A broker repeats messages without acknowledgement, and sometimes acknowledged ones.
    if (tries > 1 && chance(0.5))
      time.at(time.now + random.between(0, 3 * HOUR_MS), () => deliver(message, tries - 1));
    const { store: used, clock } = createProcess('ingest', anySkew(), diesSometimes());
    const days = new LateDayNotes({ store: used.write.lateDays, retry, clock });
    const arrivals = new LateArrivalNotes({ store: used.write.lateArrivals, retry, clock });
    const late = createLateWriter({ store: used.write.history, retry, days, arrivals, onLate: nothing });
    const writer = new SampleWriter({
      write: used.write.samples,
      stamps: { stampedAt: 0 },
      clock,
      late,
    });
    const { device, series, rows } = message;
    if (!registered.has(device)) await register(used, device, clock.now());
    registered.add(device);
    for (const { key, samples } of series) known.sent.add(key, samples);
    const sensors = new Map(device.sensors.map((sensor) => [sensor.key, sensor]));
    const sender = { ...device, sensors } as never;
    await writer.write(sender, rows);
    for (const { key, samples } of series) known.acknowledged.add(key, samples);
  }

  async function correct(correction: SentCorrection, tries: number) {
    // A client without an answer sends it again, and gets a newer revision.
    if (tries > 1) time.at(time.now + random.between(0, 3 * HOUR_MS), () => correct(correction, tries - 1));
    const { store: used, clock } = createProcess('ingest', anySkew(), diesSometimes());
    const days = new LateDayNotes({ store: used.write.lateDays, retry, clock });
    const writer = new RevisionWriter({
      store: used.write.history,
      retry,
      clock,
      days,
      lateDays: used.write.lateDays,
    });
    const { device, key, sensor, hours, versions } = correction;
    const revision = await writer.next();
    known.sent.add(key, versions, revision);
    await writer.write(device, revision, [{ sensor, hours }]);
    known.acknowledged.add(key, versions, revision);
  }

  /** @param skew ms */
  async function pack(skew: number) {
    const { store: used, clock } = createProcess('pack', skew, diesSometimes());
    // The packer of a simulation has no leases, as if it lost each one at once.
    await createTestPacker({ store: used, groups: 1, clock: clock.now }).packDue();
  }

  const note = (found: string[]) =>
    faults.push(...found.map((fault) => `${new Date(time.now).toISOString()} ${fault}`));

  async function read() {
    const used = createProcess('read', 0).store;
    note(await createReaders({ store: used, random, installation, known }).readOne());
  }

  for (let n = 0; n < MESSAGES; n++) {
    const { message, at } = makeMessage(random, installation);
    time.at(at, () => deliver(message, chance(0.3) ? 3 : 1));
  }
  for (let n = 0; n < corrections; n++) {
    const { correction, at } = makeCorrection(random, installation);
    time.at(at, () => correct(correction, chance(0.3) ? 2 : 1));
  }
  for (let hour = installation.start; hour < installation.start + HOURS * HOUR_MS; hour += HOUR_MS) {
    // A packer begins when the hour closes by its own clock. Sometimes a second one begins meanwhile.
    const skew = anySkew();
    time.at(closingOf(hour) - skew, () => pack(skew));
    const other = anySkew();
    if (chance(0.25)) time.at(closingOf(hour) - other + random.between(0, 20 * MINUTE_MS), () => pack(other));
  }
  for (let n = 0; n < LATE_PACKERS; n++) {
    const skew = anySkew();
    time.at(installation.installedAt + random.between(0, durationMs), () => pack(skew));
  }
  for (let n = 0; n < READERS; n++) {
    // Half of the readers read while hours close.
    const hour = installation.start + Math.floor(random.between(0, HOURS)) * HOUR_MS;
    const at =
      n % 2 === 0
        ? closingOf(hour) + random.between(0, 30 * MINUTE_MS)
        : installation.installedAt + random.between(0, durationMs);
    time.at(at, read);
  }
  if (corrections > 0)
    for (let hours = 0; hours < durationMs / HOUR_MS; hours += 12)
      time.at(installation.installedAt + hours * HOUR_MS, () => pack(anySkew()));
  const readers = createReaders({ store, random, installation, known });
  for (let elapsed = durationMs / 3; elapsed <= durationMs; elapsed += durationMs / 3) {
    await time.run(installation.installedAt + elapsed);
    await time.real(() => installation.expire(time.now));
    note(await readers.readAll());
  }
  return faults;
}
