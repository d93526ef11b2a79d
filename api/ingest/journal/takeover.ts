import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import type { LeaseStore } from '../../store/history/progress.ts';
import type { JournalEntry, JournalStore, RunRow } from '../../store/journal/index.ts';
import { STALE_BEATS } from './run.ts';

/** A journal is taken over if its beat stays the same for this number of beats. */
const DEAD_BEATS = 2 * STALE_BEATS;
const BEATS_BETWEEN_LOOKS = 5;

/** A group of `pack_lease` that no devices have. The lease only saves work: the same samples written twice are stored once. */
const LEASE = -1;

const DEVICES_AT_ONCE = 32;
/** Then the rows of these samples are written, before more of the segment is read. */
const MAX_SAMPLES = 200_000;

export type OrphanedSamples = {
  bytes: DeviceBytes;
  sensors: Map<string, { times: number[]; values: number[] }>;
};

/** By run, as latin1. `at`: when the beat was first seen, in ms of `performance.now()` */
type Beats = Map<string, { beat: number; at: number }>;

/** Writes the rows of samples that a process acknowledged before it was killed. */
export class JournalTakeover {
  #deps;
  #seen: Beats = new Map();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #ending = new AbortController();

  constructor(deps: {
    /** reads this process's own journals, also while another data center cannot be reached */
    own: Pick<JournalStore, 'runs' | 'segment'>;
    /** finds what other data centers have */
    store: JournalStore;
    leases: LeaseStore;
    /** runs of this process that are alive */
    isOwn: (run: Buffer) => boolean;
    write: (samples: OrphanedSamples) => Promise<unknown>;
    process: string;
    beatMs: number;
    logger: Pick<Logger, 'info' | 'debug' | 'error'>;
  }) {
    this.#deps = deps;
  }

  /**
   * Before the start: rows of earlier starts of this process, so that readers find all samples after a restart. Their journal is deleted
   * later, because only a beat that stays the same shows that its process is dead.
   */
  async writeOwn() {
    const { own, process, logger } = this.#deps;
    try {
      for (const { run, process: writer, oldest, newest } of await own.runs()) {
        if (writer !== process) continue;
        for (let segment = oldest; segment <= newest; segment++)
          await this.#writeRows(own.segment(run, segment));
      }
    } catch (error) {
      logger.error({ err: error }, 'the journal of an earlier start of this process could not be read');
    }
  }

  start() {
    this.#later(0);
  }

  /** Waits for the samples that are being written. While the database is unavailable, they are repeated for as long as the process runs. */
  async stop(withinMs: number) {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await Promise.race([this.#round, sleep(withinMs, undefined, { ref: false })]);
  }

  #later(pauseMs: number) {
    this.#timer = setTimeout(() => {
      this.#round = this.#look().then(() => {
        if (!this.#ending.signal.aborted) this.#later(BEATS_BETWEEN_LOOKS * this.#deps.beatMs);
      });
    }, pauseMs).unref();
  }

  async #look() {
    const { store, leases, process, logger } = this.#deps;
    // A journal that cannot be read must not keep others waiting.
    const report = (error: unknown) =>
      logger.debug({ reason: String(error) }, 'the journals of other processes could not be read');
    try {
      const left = this.#dead(await store.runs(), performance.now());
      if (left.length === 0 || !(await leases.take(LEASE, process))) return;
      try {
        for (const run of left) {
          if (this.#ending.signal.aborted) return;
          await this.#takeOver(run).catch(report);
        }
      } finally {
        await leases.release(LEASE, process);
      }
    } catch (error) {
      report(error);
    }
  }

  #dead(runs: RunRow[], now: number): RunRow[] {
    const seen: Beats = new Map();
    const dead = runs.filter(({ run, beat, ended }) => {
      if (this.#deps.isOwn(run)) return false;
      const key = run.toString('latin1');
      const before = this.#seen.get(key);
      const since = before?.beat === beat ? before.at : now;
      seen.set(key, { beat, at: since });
      return ended || now - since >= DEAD_BEATS * this.#deps.beatMs;
    });
    this.#seen = seen;
    return dead;
  }

  async #takeOver({ run, process, oldest, newest }: RunRow) {
    const { store, leases, logger } = this.#deps;
    logger.info({ process, segments: newest - oldest + 1 }, 'writing what a process left in its journal');
    for (let segment = oldest; segment <= newest; segment++) {
      await this.#writeRows(store.segment(run, segment));
      await store.removeSegment(run, segment);
      if (!(await leases.renew(LEASE, this.#deps.process))) return;
    }
    await store.removeRun(run);
  }

  async #writeRows(entries: AsyncIterable<JournalEntry>) {
    let devices: Map<string, OrphanedSamples> = new Map();
    let samples = 0;
    for await (const entry of entries) {
      samples += addEntry(devices, entry);
      if (samples < MAX_SAMPLES) continue;
      await this.#writeDevices(devices);
      devices = new Map();
      samples = 0;
    }
    await this.#writeDevices(devices);
  }

  async #writeDevices(devices: Map<string, OrphanedSamples>) {
    await forEachConcurrently(DEVICES_AT_ONCE, devices.values(), async (left) => {
      this.#ending.signal.throwIfAborted();
      await this.#deps.write(left);
    });
  }
}

function addEntry(devices: Map<string, OrphanedSamples>, { device, series }: JournalEntry): number {
  const id = uuidText(device);
  const left = devices.get(id) ?? { bytes: device, sensors: new Map() };
  devices.set(id, left);
  let samples = 0;
  for (const { sensor, times, values } of series) {
    const key = uuidText(sensor);
    const known = left.sensors.get(key) ?? { times: [], values: [] };
    left.sensors.set(key, known);
    known.times.push(...times);
    known.values.push(...values);
    samples += times.length;
  }
  return samples;
}
