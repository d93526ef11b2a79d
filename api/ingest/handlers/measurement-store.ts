import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, MillraceError } from '../../../common/errors.ts';
import { type Identity, uuidText } from '../../../schema/ids.ts';
import { isAscending, sortKeepLast, sortMerge } from '../../../schema/packed/series.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { MeasurementCounts, ProcessStats } from '../../observability/process-stats.ts';
import { isRefusal, noteCommitted, type Store } from '../../store/index.ts';
import type { Hour } from '../../store/measurements/hours.ts';
import type { Retry } from '../../store/sending/retry.ts';
import type { Corrections } from '../corrections.ts';
import type { DeadLetterBox } from '../dead-letter-box.ts';
import type { MessageBatch, SensorSamples } from '../decode/message-batch.ts';
import type { Publish } from '../index.ts';
import type { Journal } from '../journal/index.ts';
import type { OrphanedSamples } from '../journal/takeover.ts';
import type { Arrival } from '../pipeline.ts';
import type { Receipt, ReceiptTimes } from '../receipt-times.ts';
import { type Device, type Sensor, sensorOf } from '../registry/cache.ts';
import type { Registry } from '../registry/index.ts';
import type { Statuses } from '../registry/status.ts';
import type { SampleWriter, Series } from '../sample-writer.ts';
import type { Kept } from './index.ts';
import type { SampleObserver } from './sample-observer.ts';
import {
  addSamples,
  countMerged,
  isHidden,
  isOneTimelyRow,
  newestOf,
  newestOfAll,
  seriesOf,
} from './series.ts';

/**
 * Longest wait of a message for the clock to reach its instants. All later messages of its connection wait too, because
 * acknowledgements leave in order, and the session at an external broker has the messages of all devices.
 */
const MAX_CLOCK_WAIT_MS = 1000;

/** A message that waits for the clock checks this often whether the process ends. */
const MAX_SLEEP_MS = 1000;

/**
 * After a longer commit the observer notes the samples again. After a crash, another process reads the notes of the
 * last hours only, and would miss a commit that took hours because the database was unavailable.
 */
const SLOW_COMMIT_MS = 30_000;

/** Three steps: resolve, write, publish. Two cases take more: new sensors (`#register`), and late samples (`SampleWriter.finish`). */
export class MeasurementStore {
  #deps;
  #clock;
  #metrics;
  #processStats;
  #observer: SampleObserver | null = null;
  #corrections: Pick<Corrections, 'showLate'> | null = null;
  /**
   * The newest lookup of each device that was not in memory. Later messages of the device wait for it, so that values
   * without a time get their instants in the order of arrival.
   */
  #lookUps: Map<string, Promise<Device | null>> = new Map();

  constructor(
    {
      clock,
      metrics,
      processStats,
    }: {
      /** epoch ms */
      clock: () => number;
      metrics: Metrics;
      processStats: ProcessStats;
    },
    deps: {
      registry: Registry;
      statuses: Statuses;
      receiptTimes: ReceiptTimes;
      samples: SampleWriter;
      journal: Journal;
      deadLetters: Pick<DeadLetterBox, 'putSamples'>;
      write: Store['write'];
      retry: Retry;
      publish: Publish;
    },
  ) {
    this.#deps = deps;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#processStats = processStats;
  }

  /** One feature sets it, at any time. Without an observer (null), a message costs no additional time. */
  setSampleObserver(observer: SampleObserver | null) {
    this.#observer = observer;
  }

  /** They decide what `latest` shows of a sensor whose newest sample was removed. */
  setCorrections(corrections: Pick<Corrections, 'showLate'>) {
    this.#corrections = corrections;
  }

  /**
   * Not async, like the next three functions, because most messages wait only for their writes: see `pipeline.ts`.
   * @returns settles when the batch is committed; false: the device is not registered, so the whole batch is refused
   */
  store(identity: Identity, batch: MessageBatch, arrival: Arrival, receipt: Receipt): Promise<boolean> {
    const before = this.#lookUps.get(identity.id);
    const known = before === undefined ? this.#deps.registry.cache.peek(identity.id) : undefined;
    if (known || batch.sensors.size === 0)
      return this.#storeTimed(known ?? null, identity, batch, arrival, receipt);
    return this.#lookUp(identity, before, (device) =>
      this.#storeTimed(device, identity, batch, arrival, receipt),
    );
  }

  /** A null device is not registered. */
  #storeTimed(
    device: Device | null,
    identity: Identity,
    batch: MessageBatch,
    arrival: Arrival,
    receipt: Receipt,
  ): Promise<boolean> {
    const waitMs = batch.untimed
      ? this.#deps.receiptTimes.place(batch, identity, device, arrival.receivedAt, receipt)
      : 0;
    if (waitMs > MAX_CLOCK_WAIT_MS) {
      for (const ref of batch.untimed?.keys() ?? []) batch.refuseSensor(ref, 'in_future');
    } else if (waitMs > 0) return this.#wait(waitMs).then(() => this.#storeResolved(device, batch, arrival));
    return this.#storeResolved(device, batch, arrival);
  }

  #storeResolved(device: Device | null, batch: MessageBatch, arrival: Arrival): Promise<boolean> {
    if (batch.sensors.size === 0) return Promise.resolve(true);
    if (!device) {
      for (const ref of [...batch.sensors.keys()]) batch.refuseSensor(ref, 'unknown_device');
      return Promise.resolve(false);
    }
    const resolved = this.#resolve(device, batch);
    if (Array.isArray(resolved)) return this.#commit(device, batch, resolved, arrival);
    return resolved.then((series) => this.#commit(device, batch, series, arrival));
  }

  #commit(device: Device, batch: MessageBatch, series: Series[], arrival: Arrival): Promise<boolean> {
    const seenAt = seenAtOf(arrival);
    countMerged(batch, series);
    const began = Date.now();
    const noted = this.#observer?.note(device, series, seenAt);
    const written = isOneTimelyRow(device, series, this.#clock())
      ? this.#writeOneRow(device, series, seenAt)
      : this.#writeInOrder(device, series, seenAt, began);
    const committed = noted === undefined ? written : Promise.all([written, noted]).then(([first]) => first);
    return committed.then(([changed, hours]) => {
      const finished = this.#deps.samples.finish(device, hours, began);
      const hidden = device.isCorrected ? series.filter(isHidden) : [];
      const late =
        hidden.length > 0 && this.#corrections
          ? Promise.all([this.#corrections.showLate(device, hidden), finished])
          : finished;
      if (!late) return this.#settle(device, batch, series, changed, arrival);
      return late.then(() => this.#settle(device, batch, series, changed, arrival));
    });
  }

  /** After a slow commit, the observer notes the samples again. `changed`: the sensors that have a newer value now. */
  #settle(
    device: Device,
    batch: MessageBatch,
    series: Series[],
    changed: Sensor[],
    arrival: Arrival,
  ): Promise<boolean> | boolean {
    const isSlow = this.#observer !== null && this.#clock() - arrival.receivedAt > SLOW_COMMIT_MS;
    const noted = isSlow ? this.#observer?.note(device, series, null) : undefined;
    if (noted !== undefined)
      return noted.then(() => this.#settleNoted(device, batch, series, changed, arrival));
    return this.#settleNoted(device, batch, series, changed, arrival);
  }

  #settleNoted(
    device: Device,
    batch: MessageBatch,
    series: Series[],
    changed: Sensor[],
    arrival: Arrival,
  ): Promise<boolean> | boolean {
    const seenAt = seenAtOf(arrival);
    if (device.state !== 'offline' || arrival.as !== 'live')
      return this.#publish(device, batch, series, changed, seenAt);
    const online = this.#deps.statuses.setOnline(device, arrival);
    return online.then(() => this.#publish(device, batch, series, changed, seenAt));
  }

  #publish(
    device: Device,
    batch: MessageBatch,
    series: Series[],
    changed: Sensor[],
    seenAt: number | null,
  ): true {
    this.#observer?.observe(device, series);
    this.#deps.publish(device, changed, series);
    this.#count(batch, series, seenAt);
    return true;
  }

  /**
   * Waits for the lookups of earlier messages of this device (`before`). `store` is called in the same microtask in which
   * later messages stop waiting, so no later message gets its instants earlier.
   * @throws `registration_limit`
   */
  #lookUp<T>(
    identity: Identity,
    before: Promise<unknown> | undefined,
    store: (device: Device | null) => Promise<T>,
  ): Promise<T> {
    const find = () => this.#deps.registry.device(identity);
    const found = before === undefined ? find() : before.then(find, find);
    this.#lookUps.set(identity.id, found);
    const leave = () => {
      if (this.#lookUps.get(identity.id) === found) this.#lookUps.delete(identity.id);
    };
    return found.then(
      (device) => {
        leave();
        return store(device);
      },
      (error) => {
        leave();
        throw error;
      },
    );
  }

  /** @throws `unavailable`: the process ends */
  async #wait(ms: number) {
    for (let left = ms; left > 0; left -= MAX_SLEEP_MS) {
      await sleep(Math.min(left, MAX_SLEEP_MS), undefined, { ref: false });
      if (this.#deps.retry.isAborted) throw new MillraceError('unavailable');
    }
  }

  /** One series for each sensor, even if the message names it by name and by id. A promise only if sensors must be registered. */
  #resolve(device: Device, batch: MessageBatch): Series[] | Promise<Series[]> {
    // An array that grows to 50 sensors is copied three times.
    const series: Series[] = new Array(batch.sensors.size);
    let count = 0;
    for (const [ref, { times, values }] of batch.sensors) {
      const known = sensorOf(device, ref);
      // A message may name a sensor by its id and by its name. Two names never belong to one sensor, so names alone need no map.
      if (!known || known.id === ref) return this.#resolveEach(device, batch);
      series[count++] = seriesOf(known, times, values);
    }
    return this.#sort(series, batch);
  }

  /** Resolves a batch that has ids or new sensors. */
  #resolveEach(device: Device, batch: MessageBatch): Series[] | Promise<Series[]> {
    const found: Map<Sensor, SensorSamples> = new Map();
    const missing: string[] = [];
    for (const [ref, samples] of batch.sensors) {
      const known = sensorOf(device, ref);
      if (known) addSamples(found, known, samples);
      else missing.push(ref);
    }
    if (missing.length === 0) return this.#toSeries(found, batch);
    return this.#register(device, batch, missing, found);
  }

  /** `refs`: sensors that are not registered; `found`: samples of the others */
  async #register(device: Device, batch: MessageBatch, refs: string[], found: Map<Sensor, SensorSamples>) {
    const { known, refused } = await this.#deps.registry.register(device, refs);
    for (const [ref, code] of refused) batch.refuseSensor(ref, code);
    for (const [ref, sensor] of known) addSamples(found, sensor, batch.sensors.get(ref) as SensorSamples);
    return this.#toSeries(found, batch);
  }

  #toSeries(found: Map<Sensor, SensorSamples>, batch: MessageBatch): Series[] {
    const series = Array.from(found, ([known, { times, values }]) => seriesOf(known, times, values));
    return this.#sort(series, batch);
  }

  #sort(list: Series[], { keepsLast }: MessageBatch): Series[] {
    for (const series of list) {
      // Most series are already sorted.
      if (isAscending(series.times)) continue;
      const sort = keepsLast ? sortKeepLast : sortMerge;
      const { times, values, conflicts } = sort(series.times, series.values);
      if (conflicts > 0) this.#metrics.conflicts.inc(conflicts);
      series.times = times;
      series.values = values;
      series.to = times.length;
    }
    return list;
  }

  #writeOneRow(
    device: Device,
    series: Series[],
    seenAt: number | null,
  ): Promise<[changed: Sensor[], hours: Hour[], ...others: unknown[]]> {
    const { journal, write } = this.#deps;
    if (!journal.accepts(device, series)) return this.#write(device, series, seenAt);
    const seen = seenAt === null ? undefined : write.lastSeen(device, seenAt);
    const appended = seen
      ? Promise.all([journal.append(device, series), seen]).then(([first]) => first)
      : journal.append(device, series);
    return appended.then((isCommitted) =>
      isCommitted ? [noteCommitted(series.map(newestOf)), NO_HOURS] : this.#write(device, series, null),
    );
  }

  /** The three writes run concurrently. Returns the sensors that have a newer value now, and the hours of the samples. */
  #write(
    device: Device,
    series: Series[],
    seenAt: number | null,
  ): Promise<[changed: Sensor[], hours: Hour[], ...others: unknown[]]> {
    const { samples, write } = this.#deps;
    const rows = samples.commit(device, series);
    const latest = write.latest(device, series.map(newestOf));
    const seen = seenAt === null ? undefined : write.lastSeen(device, seenAt);
    // `seen` is nearly always undefined, because the time was written less than a minute ago.
    return seen ? Promise.all([latest, rows, seen]) : Promise.all([latest, rows]);
  }

  /**
   * Commits the samples, also to history, and only then the newest values. Otherwise `latest` could show a sample that no
   * reader finds, if the process ends between two requests. No hours are left: late samples are in history.
   */
  async #writeInOrder(
    device: Device,
    series: Series[],
    seenAt: number | null,
    began: number,
  ): Promise<[changed: Sensor[], hours: Hour[]]> {
    this.#deps.journal.release(device.id);
    await this.#writeRows(device, series, seenAt, began);
    return [await this.#deps.write.latest(device, series.map(newestOf)), NO_HOURS];
  }

  async #writeRows(device: Device, series: Series[], seenAt: number | null, began: number) {
    const { samples, write } = this.#deps;
    const seen = seenAt === null ? undefined : write.lastSeen(device, seenAt);
    const [hours] = await Promise.all([samples.commit(device, series), seen]);
    await samples.finish(device, hours, began);
  }

  /** The rows of samples that are acknowledged already. @throws `unavailable` while the process ends */
  async writeBehind(device: Device, series: Series[]): Promise<void> {
    try {
      await this.#writeRows(device, series, null, Date.now());
      // The process knows these values already.
      await this.#deps.write.latestAgain(device, series.map(newestOf));
      const hidden = device.isCorrected ? series.filter(isHidden) : [];
      if (hidden.length > 0) await this.#corrections?.showLate(device, hidden);
    } catch (error) {
      await this.#keepRefused(device, series, error);
    }
  }

  /** The rows of samples that another process acknowledged. Samples of a device or sensor that was retired meanwhile are dropped. */
  async writeOrphaned({ bytes, sensors }: OrphanedSamples): Promise<void> {
    const { registry } = this.#deps;
    const identity = { id: uuidText(bytes), bytes };
    const cached = await registry.find(identity);
    // The other process may have registered sensors since this one read the device.
    const isKnown = cached && [...sensors.keys()].every((id) => cached.sensors.has(id));
    const device = isKnown ? cached : await registry.reload(identity);
    if (!device) return;
    const series: Series[] = [];
    for (const [id, { times, values }] of sensors) {
      const known = device.sensors.get(id);
      if (!known) continue;
      const sorted = sortMerge(times, values);
      series.push(seriesOf(known, sorted.times, sorted.values));
    }
    if (series.length === 0) return;
    const noted = this.#observer?.note(device, series, null);
    const written = this.#writeInOrder(device, series, null, Date.now()).catch((error) =>
      this.#keepRefused(device, series, error),
    );
    const [result] = await Promise.all([written, noted]);
    if (!result) return;
    const [changed] = result;
    this.#observer?.observe(device, series);
    this.#deps.publish(device, changed, series);
  }

  /** Acknowledged samples that the database refuses become dead letters. @throws `error` if it is no refusal */
  async #keepRefused(device: Device, series: Series[], error: unknown): Promise<null> {
    if (!isRefusal(error)) throw error;
    await this.#deps.deadLetters.putSamples(device.id, series, error);
    return null;
  }

  #count({ counts }: MessageBatch, series: Series[], seenAt: number | null) {
    this.#metrics.samples.add(counts.samples);
    if (counts.merged > 0) this.#metrics.merged.inc(counts.merged);
    // End-to-end latency does not count replays, retained copies, and messages without samples.
    if (seenAt !== null && series.length > 0) {
      const waitedMs = Math.max(0, this.#clock() - newestOfAll(series));
      this.#metrics.endToEndSeconds.observe(waitedMs / 1000);
    }
    if (counts.skipped > 0) this.#metrics.skipped.inc(counts.skipped);
    if (counts.relative > 0) this.#metrics.relative.inc(counts.relative);
  }

  /** `began`: by `performance.now()` */
  noteSettled(batch: MessageBatch, began: number) {
    this.#processStats.note(batch.measurementCounts(), performance.now() - began);
  }

  /** The answer to the client contains the refusals, so there is no dead letter. */
  noteAnswered<T extends { accepted: number; refused: Array<{ code: ErrorCode }> }>(
    result: T,
    counts: MeasurementCounts,
    began: number,
  ): T {
    for (const { code } of result.refused) this.#metrics.refused.inc({ code });
    const commitMs = performance.now() - began;
    this.#processStats.note(counts, commitMs);
    this.#metrics.commitSeconds.observe(commitMs / 1000);
    return result;
  }

  /** Stores only the refused measurements of an earlier message. */
  async storeAgain(
    identity: Identity,
    batch: MessageBatch,
    { receivedAt, isRefused }: Pick<Kept, 'receivedAt' | 'isRefused'>,
  ) {
    const receipt = { from: receivedAt };
    // The refused measurements get the same instants as at the receipt only if all measurements of the message are placed.
    const device = this.#deps.registry.cache.peek(identity.id);
    this.#deps.receiptTimes.place(batch, identity, device, receivedAt, receipt);
    batch.untimed = null;
    if (isRefused) batch.keepOnly(isRefused);
    await this.store(identity, batch, { receivedAt, as: 'replayed' }, receipt);
  }
}

const NO_HOURS: Hour[] = [];

/** A copy that the broker retained and a replay do not show that the device is active (null). */
const seenAtOf = ({ as, receivedAt }: Arrival): number | null =>
  as === 'retained' || as === 'replayed' ? null : receivedAt;
