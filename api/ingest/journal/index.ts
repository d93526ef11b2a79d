import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MillraceError } from '../../../common/errors.ts';
import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import type { Newest } from '../../store/devices/latest-rows.ts';
import { blocksOfHour, entryBytes, isRefusal, mergeNewest } from '../../store/index.ts';
import type { JournalStore } from '../../store/journal/index.ts';
import type { Device } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';
import { JournalRun } from './run.ts';
import { type WaitingDevice, WaitingSamples } from './waiting-samples.ts';

/** `busy`: while writes wait for the database */
export type JournalMode = 'busy' | 'always' | 'never';

/** Of a message. A row of a larger message costs little for each of its samples. */
const MAX_SAMPLES = 64;

/** In ms after a write has waited. */
const BUSY_MS = 1000;

/** In ms. An older sample may be seen by its own process only. Then no further sample enters the journal, and messages wait for their rows. */
const MAX_AGE_MS = 30_000;

/** A sample takes 16 bytes, and each device that waits about 450. */
const MAX_WAITING_SAMPLES = 2_000_000;

/** In ms, while the database is busy. Until then more samples of the device may come, which share its row. */
const MIN_AGE_MS = 5000;

/** Devices whose rows are written at once. The number grows with the square of the age, so that rows are few while there is time. */
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
 *
 * A row with 64 messages costs the database less than the two rows of one message.
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
  #busyUntil = Number.NEGATIVE_INFINITY;
  #isBeating = false;
  #beatAt = 0;
  /** When the run was created, in ms of `performance.now()`. */
  #startedAt = 0;
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

  /** A run that is not alive any more is taken over like that of another process. */
  isOwn(run: Buffer): boolean {
    return this.#run?.id.equals(run) === true && this.#run.isFresh(performance.now());
  }

  get waitingSamples() {
    return this.#waiting.samples;
  }

  /** In ms, of the oldest sample whose row is not written yet. */
  get ageMs() {
    const { oldest } = this.#waiting;
    return oldest === null ? 0 : performance.now() - oldest;
  }

  /** Whether the message goes into the journal. @param series all in one hour, which is not late */
  accepts(device: Device, series: Series[]): boolean {
    if (this.#mayAccept(device, series)) return true;
    if (this.#run) this.release(device.id);
    return false;
  }

  #mayAccept(device: Device, series: Series[]): boolean {
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
   * @returns settles when the samples are in the journal; false: they do not count as committed, because the run became stale meanwhile,
   *   the process ends, or the database refused the row
   * @throws `unavailable` while the process ends
   */
  append(device: Device, series: Series[]): Promise<boolean> {
    const run = this.#run as JournalRun;
    const entry = { device: device.bytes, series };
    const { row, segment } = run.append(performance.now(), entryBytes(series), (partition) =>
      this.#store.rows.append(partition, entry),
    );
    return row.done.then(
      () => {
        run.settle(segment);
        const now = performance.now();
        // A drain may have removed the segment already.
        if (this.#isEnding || !run.isFresh(now)) return false;
        this.#waiting.add(device, series, segment.number, now);
        return true;
      },
      (error) => {
        run.settle(segment);
        // The reason may be another message of the row.
        if (isRefusal(error)) return false;
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
    return mergeNewest(first.newest(), second?.newest());
  }

  /** Before a message does not enter the journal: observers of blocks get earlier samples first, and they share its row. */
  release(id: string) {
    const [first] = this.#waiting.find(id);
    if (first && !this.#waiting.isWriting(id)) this.#writeRows(first);
  }

  /** Settles when the rows of the samples that wait now are written. */
  async flush(id: string): Promise<void> {
    const before = this.#waiting.find(id);
    for (;;) {
      const isWaiting = this.#waiting.find(id).some((each) => before.includes(each));
      if (!isWaiting || this.#isEnding) return;
      this.release(id);
      await sleep(TICK_MS, undefined, { ref: false });
    }
  }

  /** Writes the rows that wait. What is left after `withinMs`, another process writes. */
  async stop(withinMs: number): Promise<void> {
    this.#isEnding = true;
    const until = performance.now() + withinMs;
    while (!this.#waiting.isEmpty && performance.now() < until) {
      this.#pump(MAX_WRITING, 0);
      await sleep(TICK_MS / 5);
    }
    if (this.#timer) clearInterval(this.#timer);
    await this.#run
      ?.end(this.#waiting.isEmpty)
      .catch((error) => this.#logger.warn({ reason: String(error) }, 'the journal was not closed'));
  }

  #start() {
    const now = performance.now();
    // The samples of a run that became stale are still written by this process, and also by the one that takes it over.
    const isDue = now - this.#startedAt >= this.#beatMs && !this.#isBeating;
    if (!this.#run || (isDue && !this.#run.isFresh(now))) {
      this.#startedAt = now;
      this.#run = new JournalRun({
        store: this.#store,
        process: this.#process,
        first: this.#run ? this.#run.segment + 2 : 1,
        beatMs: this.#beatMs,
      });
      void this.#beat();
    }
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #tick() {
    const age = Math.min(1, this.ageMs / MAX_AGE_MS);
    const isBusy = performance.now() < this.#busyUntil;
    if (isBusy) this.#pump(MIN_WRITING + MAX_WRITING * age * age, MIN_AGE_MS);
    else this.#pump(MAX_WRITING, 0);
    if (performance.now() - this.#beatAt >= this.#beatMs) void this.#beat();
  }

  #pump(atOnce: number, minAgeMs: number) {
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
      (error) => {
        const [device, samples] = [waiting.device.id, waiting.samples];
        // The process ends: the samples stay in the journal.
        if (error instanceof MillraceError && error.code === 'unavailable') {
          this.#logger.warn({ device, reason: error.message }, 'the rows of a device were not written');
          return;
        }
        // Otherwise the later samples of the device, and the journal of all others, would wait for ever.
        this.#waiting.endWriting(waiting);
        this.#logger.error(
          { device, samples, err: error },
          'rows of acknowledged samples could not be written',
        );
      },
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
