import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import type { Newest } from '../../store/devices/latest-rows.ts';
import { blocksOfHour } from '../../store/index.ts';
import type { JournalStore } from '../../store/journal/index.ts';

import type { Device } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';
import { JournalRun } from './run.ts';
import { type WaitingDevice, WaitingSamples } from './waiting-samples.ts';

/** `busy`: while writes wait for the database */
export type JournalMode = 'busy' | 'always' | 'never';

/** In a message. A row of a larger message costs little for each of its samples. */
const MAX_SAMPLES = 64;

/** In ms after a write has waited. */
const BUSY_MS = 1000;

/** In ms. While a sample waits this long for its row, messages write rows of their own, because other processes cannot see it. */
export const MAX_AGE_MS = 30_000;

/** About 100 bytes each, so 200 MB. */
const MAX_WAITING_SAMPLES = 2_000_000;

/** In ms, while the database is busy. Until then further samples of the device join its row. */
const MIN_AGE_MS = 5000;

/** Devices whose rows are written at once. The number grows with the square of the age, so young samples wait for others that join their row. */
const MIN_WRITING = 4;
const MAX_WRITING = 512;

const TICK_MS = 50;

/**
 * While the database is busy, small messages are acknowledged by a shared row, and their own rows follow, merged by device
 * (docs/explanation/backpressure.md#the-journal).
 *
 *     message -> row of the journal -> PUBACK
 *                    +-> waiting samples, by device -> rows of message, late history, latest -> the segment is deleted
 *                            +-> readers of this process
 */
export class Journal {
  #store;
  #isBusy;
  #write;
  #mode;
  #process;
  #beatMs;
  #logger;
  #waiting = new WaitingSamples();
  #run: JournalRun | null = null;
  #segment = 0;
  #busyUntil = Number.NEGATIVE_INFINITY;
  #isBeating = false;
  #beatAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #isEnding = false;

  constructor(deps: {
    store: JournalStore;
    /** whether writes wait for the database */
    isBusy: () => boolean;
    /** writes the rows of acknowledged samples @throws `unavailable` while the process ends */
    write: (device: Device, series: Series[]) => Promise<unknown>;
    mode: JournalMode;
    process: string;
    beatMs: number;
    logger: Pick<Logger, 'warn' | 'error'>;
  }) {
    this.#store = deps.store;
    this.#isBusy = deps.isBusy;
    this.#write = deps.write;
    this.#mode = deps.mode;
    this.#process = deps.process;
    this.#beatMs = deps.beatMs;
    this.#logger = deps.logger;
  }

  /** A run that became stale is taken over like that of another process. */
  isOwn(run: Buffer): boolean {
    return this.#run?.id.equals(run) === true;
  }

  get waitingSamples() {
    return this.#waiting.samples;
  }

  /** Of the oldest sample whose row is not written yet. */
  get ageMs() {
    const { oldest } = this.#waiting;
    return oldest === null ? 0 : performance.now() - oldest;
  }

  /** @param series all in one hour, which is not late */
  accepts(device: Device, series: Series[]): boolean {
    if (this.#mode === 'never' || this.#isEnding || device.isCorrected) return false;
    const now = performance.now();
    if (this.#mode === 'always' || this.#isBusy()) this.#busyUntil = now + BUSY_MS;
    if (now > this.#busyUntil || !isSmall(series)) return false;
    this.#start();
    if (!this.#run?.isFresh(now) || this.#waiting.samples >= MAX_WAITING_SAMPLES) return false;
    const { oldest } = this.#waiting;
    return oldest === null || now - oldest < MAX_AGE_MS;
  }

  /**
   * @returns settles when the samples are committed to the journal; false: the run became stale meanwhile, so they do not count
   * @throws `unavailable` while the process ends, `rejected`
   */
  append(device: Device, series: Series[]): Promise<boolean> {
    const run = this.#run as JournalRun;
    const entry = { device: device.bytes, series };
    const { row, segment } = run.append(performance.now(), 32 * series.length, (partition) =>
      this.#store.rows.append(partition, entry),
    );
    return row.done.then(
      () => {
        run.settle(segment);
        const now = performance.now();
        if (!run.isFresh(now)) return false;
        this.#waiting.add(device, series, segment.number, now);
        return true;
      },
      (error) => {
        run.settle(segment);
        throw error;
      },
    );
  }

  /** Encoded blocks of the device's samples of an hour, whose rows are not written yet. */
  blocksOf(device: DeviceBytes, bucket: number): Buffer[] {
    if (this.#waiting.isEmpty) return [];
    return this.#waiting.find(uuidText(device)).flatMap((waiting) => blocksOfHour(waiting.series(), bucket));
  }

  /** By sensor id. */
  newestOf(device: DeviceBytes): Map<string, Newest> | null {
    const [first, second] = this.#waiting.find(uuidText(device));
    if (!first) return null;
    const newest = first.newest();
    for (const [sensor, value] of second?.newest() ?? []) {
      const other = newest.get(sensor);
      if (!other || other.ts <= value.ts) newest.set(sensor, value);
    }
    return newest;
  }

  /** Writes the rows of all samples of the device. */
  async flush(id: string): Promise<void> {
    while (this.#waiting.find(id).length > 0 && !this.#isEnding) {
      for (const waiting of this.#waiting.find(id)) if (this.#waiting.writing === 0) this.#writeRows(waiting);
      await sleep(TICK_MS, undefined, { ref: false });
    }
  }

  /** Writes the rows that wait. Another process writes those that remain after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.#isEnding = true;
    const until = performance.now() + withinMs;
    while (!this.#waiting.isEmpty && performance.now() < until) {
      this.#writeDue(MAX_WRITING, 0);
      await sleep(TICK_MS / 5);
    }
    if (this.#timer) clearInterval(this.#timer);
    await this.#run
      ?.end(this.#waiting.isEmpty)
      .catch((error) => this.#logger.warn({ reason: String(error) }, 'the journal was not closed'));
  }

  #start() {
    const now = performance.now();
    // This process still writes the samples of a stale run. The process that takes it over writes them too.
    if (!this.#run || (this.#beatAt > 0 && !this.#run.isFresh(now) && !this.#isBeating)) {
      this.#segment = this.#run ? this.#run.segment + 2 : 1;
      this.#run = new JournalRun({
        store: this.#store,
        process: this.#process,
        first: this.#segment,
        beatMs: this.#beatMs,
      });
      this.#beatAt = 0;
      void this.#beat();
    }
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #tick() {
    const age = Math.min(1, this.ageMs / MAX_AGE_MS);
    const isBusy = performance.now() < this.#busyUntil;
    if (isBusy) this.#writeDue(MIN_WRITING + MAX_WRITING * age * age, MIN_AGE_MS);
    else this.#writeDue(MAX_WRITING, 0);
    if (performance.now() - this.#beatAt >= this.#beatMs) void this.#beat();
  }

  #writeDue(atOnce: number, minAgeMs: number) {
    const before = performance.now() - minAgeMs;
    while (this.#waiting.writing < atOnce) {
      const next = this.#waiting.next();
      if (!next || next.since > before) return;
      this.#writeRows(next);
    }
  }

  #writeRows(waiting: WaitingDevice) {
    this.#waiting.startWriting(waiting);
    this.#write(waiting.device, waiting.series()).then(
      () => {
        this.#waiting.endWriting(waiting);
        if (!this.#isEnding) this.#tick();
      },
      // The process ends: the samples stay in the journal.
      (error) => this.#logger.warn({ reason: String(error) }, 'the rows of a device were not written'),
    );
  }

  async #beat() {
    const run = this.#run;
    if (this.#isBeating || !run || this.#isEnding) return;
    this.#isBeating = true;
    this.#beatAt = performance.now();
    try {
      await run.beat();
      await run.removeWritten(this.#waiting.segment);
    } catch (error) {
      this.#logger.warn({ reason: String(error) }, 'the journal could not be announced');
    } finally {
      this.#isBeating = false;
    }
  }
}

function isSmall(series: Series[]): boolean {
  let samples = 0;
  for (const { times } of series) samples += times.length;
  return samples <= MAX_SAMPLES;
}
