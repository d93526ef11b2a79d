import { bucketOf, closingOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Store } from '../../store/index.ts';
import type { BlockStore } from '../shared/blocks/store.ts';
import type { CommitHorizon } from './horizon.ts';
import { begunOf, type Change, type Position, type Progress, WINDOW_MS, windowEnd } from './position.ts';
import { ChangeReading } from './reading.ts';

export { CommitHorizon } from './horizon.ts';
export type { Change, Position, Progress } from './position.ts';

/** Minimum width of a piece of a window in ms. It grows with the devices, because each piece reads all of them. */
const PIECE_MS = 1000;
const PIECE_MS_PER_DEVICE = 2;

/** A waiting reader asks again after this time in ms. */
const ASK_EVERY_MS = 250;

/** A client reads the range of a correction again. So a correction that still runs must not reach it. */
const ASK_AFTER_CORRECTION_MS = 1000;

/** A new reader does not wait for processes whose marks are older than this, in ms. */
const OLDEST_JOIN_MS = 150_000;

/**
 * A reader of committed blocks. It reads the table itself, in an order that is equal for every client. So a position is a
 * few numbers, and a client can resume exactly there, at any process. Only late messages cause additional writes.
 *
 *     since ──▶ hour 10, late 10 │ hour 11, late 11 │ open │ window 13:41 │ window 13:42 │ … │ close 12, late 12 │ window …
 *               closed hours, whole                 join    by write timestamp, minute by minute
 *
 * A piece of a window is read when all its writes are visible, and none can be added: see `horizon.ts`. The write timestamp and
 * the newest sample of a block alone decide whether a window contains the block. So the step `close` can compute which blocks came
 * with windows, without storing them.
 */
export class Changes {
  #horizon;
  #clock;
  #reading;

  constructor({
    store,
    blocks,
    groups,
    horizon,
    clock,
  }: {
    store: Pick<Store, 'devices' | 'corrections'>;
    blocks: BlockStore;
    groups: number;
    horizon: Pick<CommitHorizon, 'read'>;
    clock: () => number;
  }) {
    this.#horizon = horizon;
    this.#clock = clock;
    this.#reading = new ChangeReading({ store, blocks, groups, clock });
  }

  /** In ms until it is worth asking again; 0: the step can be read now. */
  async readableIn(position: Position): Promise<number> {
    const { step, at } = position;
    // Late messages are noted under the hour of their commit until that hour closes.
    if (step !== 'window' && step !== 'open') {
      const closesIn = closingOf(at) - this.#clock();
      if (closesIn > 0) return closesIn;
      return step === 'late' && (await this.#reading.hasRunningCorrection(at)) ? ASK_AFTER_CORRECTION_MS : 0;
    }
    const wanted = step === 'open' ? at : this.#pieceEnd(position);
    return (await this.#horizon.read()) >= wanted ? 0 : ASK_EVERY_MS;
  }

  /** The position of a reader that wants only later commits. */
  async fromNow(): Promise<Position> {
    const join = await this.#presentJoin();
    const from = bucketOf(join) - HOUR_MS;
    return { step: 'window', at: windowEnd(join), begun: join, from, join, fresh: true };
  }

  /** For a reader that wants the hour of `since` (epoch ms) and all later hours. */
  fromTime(since: number): Promise<Position> {
    return this.#begin(bucketOf(Math.min(since, this.#clock())));
  }

  /**
   * Reads one step, which must be readable, and returns the position of the next one. Between changes it also yields
   * its progress, so that a reader can resume there.
   * @throws the reason with which `signal` was aborted
   */
  async *read(start: Position, signal: AbortSignal): AsyncGenerator<Change | Progress, Position> {
    const position = await this.#withPiece(start);
    if (position.step === 'late') {
      yield* this.#reading.lateChanges(position, signal);
      yield* this.#reading.corrections(position, signal);
    } else yield* this.#reading.changesOfDevices(position, signal);
    const following = await this.#next(position);
    if (position.step === 'late') {
      const until = new Date(position.at + HOUR_MS).toISOString();
      yield { text: `{"kind":"watermark","until":"${until}"`, position: following };
    }
    return following;
  }

  /** `position`: of a finished step. */
  #next({ step, at, from, until = at, join, fresh }: Position): Position | Promise<Position> {
    if (step === 'hour') return { step: 'late', at, from };
    if (step === 'late' && join === undefined) return this.#begin(at + HOUR_MS);
    const joined = { from, join, ...(fresh && { fresh }) };
    if (step === 'open') return { step: 'window', at: windowEnd(at), begun: at, ...joined };
    if (step === 'window' && until < at) return { step, at, begun: until, ...joined };
    if (step === 'close') return { step: 'late', at, ...joined };
    // At the end of an hour, the previous hour has closed. The step `close` comes next and completes the previous hour.
    const closed = at - 2 * HOUR_MS;
    if (step === 'window' && at % HOUR_MS === 0 && closed >= from)
      return { step: 'close', at: closed, ...joined };
    const end = step === 'late' ? at + 2 * HOUR_MS : at;
    return { step: 'window', at: end + WINDOW_MS, ...joined, from: step === 'late' ? at + HOUR_MS : from };
  }

  async #begin(hour: number): Promise<Position> {
    if (this.#clock() >= closingOf(hour)) return { step: 'hour', at: hour, from: hour };
    const join = await this.#presentJoin();
    return { step: 'open', at: join, from: hour, join };
  }

  /** When a reader that begins now changes to windows, in epoch ms. */
  async #presentJoin(): Promise<number> {
    return Math.max(await this.#horizon.read(), this.#clock() - OLDEST_JOIN_MS);
  }

  /** End of the first piece of a window that is worth a read, in epoch ms. */
  #pieceEnd(position: Position): number {
    const { at, after, until } = position;
    // A cursor of version 0.4 in the middle of a window has no `until`, and stands for the whole window.
    if (until !== undefined || after) return until ?? at;
    return Math.min(
      at,
      begunOf(position) + Math.max(PIECE_MS, PIECE_MS_PER_DEVICE * this.#reading.deviceCount),
    );
  }

  /** The piece has all that can be read now. */
  async #withPiece(position: Position): Promise<Position> {
    const { step, at, after, until } = position;
    if (step !== 'window' || after || until !== undefined) return position;
    return { ...position, until: Math.min(at, await this.#horizon.read()) };
  }
}
