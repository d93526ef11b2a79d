import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../../common/errors.js';
import { Queue } from './queue.js';

/**
 * How often the window is set anew, in ms, and from how many answers at least. Never twice within the time that one
 * takes: what was sent since the last change has not been answered by then.
 */
const TICK_MS = 100;
const LEAST_ANSWERS = 8;

/** Fewer requests in flight than this tell nothing of the database, and hardly burden it. */
const LEAST = 4;

/** The window at which a new process begins: it grows from there within seconds. */
const FIRST = 32;

/**
 * A request may take this many times as long as with few in flight, and so many ms longer at the least: below that
 * throughput still grows, since client and server wake up once for many requests (measured on two cores, one sample a
 * message: 16 in flight cost ingest 74 µs of CPU, 64 take 65, 256 take 57, 512 take 50); above it requests only wait in
 * there instead of here.
 */
const TOLERANCE = 8;
const SLACK_MS = 8;

/** The window grows by a tenth and one a tick, and shrinks to seven tenths at most: back from 4 to 64 within 2 s. */
const GROWTH = 1.1;
const DECLINE = 0.7;
const AFTER_FAILURES = 0.5;

/** Fewer failures than this share of all answers are those of a few partitions: the others should not suffer. */
const TROUBLED_SHARE = 0.1;

/**
 * Under load the window is made small so often, in ms, so that an unloaded latency can be seen; a new process, which has
 * known nothing but load, looks sooner.
 */
const PROBE_EVERY_MS = 10_000;
const FIRST_PROBES_EVERY_MS = 1000;
const FIRST_PROBES = 3;

/**
 * A probe ends after so many answers, or after so long, in ms, with fewer but enough. Its time counts from when what was
 * in flight before has been answered: a busy database takes longer for that than the whole probe.
 */
const PROBE_ANSWERS = 32;
const PROBE_MS = 300;

/** Probes, or calm times as long, that count: a trouble shorter than half of this is never taken for normal. */
const PROBES_KEPT = 7;

/**
 * How many requests may be in flight, found from what the database answers, as congestion control finds it in a
 * network: BBR's idea (Cardwell et al., ACM Queue 14(5), 2016) of looking at the unloaded latency from time to time by
 * keeping the pipe nearly empty, and the gradient of Netflix' concurrency-limits: the window is multiplied with what
 * latency should be over what it is.
 *
 *     latency |                      . '        in flight up to the knee: throughput grows, latency hardly;
 *             |                  . '            beyond it only latency grows. The window stays where the
 *             |  ______________-'               median is TOLERANCE times the unloaded one.
 *             +----------------|-------- in flight
 *
 * @param {object} options
 * @param {number} options.most `INGEST_MAX_IN_FLIGHT`
 * @param {() => number} [options.now] ms of a clock that nobody sets
 */
export function createWindow({ most, now = () => performance.now() }) {
  const least = Math.min(LEAST, most);
  let size = Math.min(FIRST, most);
  /** @type {number[]} ms that each request took since the last tick */
  let answers = [];
  let failures = 0;
  let limiting = false;
  let tickedAt = now();
  let latency = 0;
  /** @type {{ since: number, began: number, answers: number[] } | null} `began`: when its first request was sent */
  let probe = null;
  let probedAt = now();
  /** @type {number[]} unloaded latencies, the newest last, in ms */
  const unloaded = [];
  let calmest = Number.POSITIVE_INFINITY;

  /** @param {number} at @param {number} ms an unloaded latency */
  function remember(at, ms) {
    probedAt = at;
    calmest = Number.POSITIVE_INFINITY;
    if (!Number.isFinite(ms)) return;
    unloaded.push(ms);
    if (unloaded.length > PROBES_KEPT) unloaded.shift();
  }

  /** @returns {number} ms that a request should take at most */
  function target() {
    const base = medianOf(unloaded.length > 0 ? unloaded : [calmest]);
    return Math.max(base * TOLERANCE, base + SLACK_MS);
  }

  /** @param {number} median ms of the answers since the last tick */
  function adapt(median) {
    latency = median;
    calmest = Math.min(calmest, median);
    const gradient = target() / median;
    if (gradient < 1) size = Math.max(least, size * Math.max(DECLINE, gradient));
    // Nobody knows what a larger window would do as long as this one is not used.
    else if (limiting) size = Math.min(most, size * Math.min(GROWTH, gradient) + 1);
  }

  /** @param {number} at */
  function tick(at) {
    if (failures > TROUBLED_SHARE * (answers.length + failures))
      size = Math.max(least, size * AFTER_FAILURES);
    else if (answers.length >= LEAST_ANSWERS) adapt(medianOf(answers));
    else return;
    if (at - probedAt >= (unloaded.length < FIRST_PROBES ? FIRST_PROBES_EVERY_MS : PROBE_EVERY_MS)) {
      if (limiting) probe = { since: at, began: Number.POSITIVE_INFINITY, answers: [] };
      else remember(at, calmest);
    }
    beginTick(at);
  }

  /** @param {number} at */
  function beginTick(at) {
    answers = [];
    failures = 0;
    limiting = false;
    tickedAt = at;
  }

  /** @param {{ since: number, began: number, answers: number[] }} its @param {number} began @param {number} at */
  function noteProbed(its, began, at) {
    if (began < its.since) return;
    its.began = Math.min(its.began, began);
    its.answers.push(at - began);
    const { length } = its.answers;
    if (length < LEAST_ANSWERS || (length < PROBE_ANSWERS && at - its.began < PROBE_MS)) return;
    probe = null;
    remember(at, medianOf(its.answers));
    beginTick(at);
  }

  return {
    /** Requests that may be in flight now. */
    get size() {
      return probe ? least : Math.floor(size);
    },

    /** Somebody waits because the window is full. */
    noteWaiting() {
      limiting = true;
    },

    /**
     * @param {number} began when the request was sent
     * @param {boolean} failed the database did not answer, or could not take it
     */
    note(began, failed) {
      const at = now();
      if (probe && !failed) return noteProbed(probe, began, at);
      if (probe) {
        // What fails says nothing of how long an answer takes; the next probe has to show it.
        probe = null;
        probedAt = at;
      }
      if (failed) failures++;
      else answers.push(at - began);
      if (at - tickedAt >= Math.max(TICK_MS, latency)) tick(at);
    },
  };
}

/**
 * @param {number[]} numbers at least one, in any order
 * @returns {number} the middle one; of an even number the upper of the two
 */
export const medianOf = (numbers) =>
  /** @type {number} */ (Float64Array.from(numbers).sort()[numbers.length >> 1]);

/**
 * What bounds the requests in flight: `size` is looked at anew for each of them.
 *
 * @typedef {object} Bound
 * @property {number} size
 * @property {() => void} [noteWaiting] a request has to wait
 * @property {(began: number, failed: boolean) => void} [note] a request was answered; `began` in ms of `performance.now()`
 */

/**
 * Bounds how many requests to the database are in flight. A permit belongs to one request, from sending to answer,
 * and is given back on every path; whoever waits for one holds none, so any message, however many requests it needs,
 * gets through even with a bound of 1.
 *
 * @param {Bound} bound
 */
export function createPermits(bound) {
  let inUse = 0;
  /** @type {Queue<() => void>} */
  const waiting = new Queue();

  /** Lets as many go as there are permits: a bound that has grown lets several. Called with every answer. */
  function goOn() {
    while (inUse < bound.size) {
      const next = waiting.shift();
      if (!next) return;
      inUse++;
      next();
    }
  }

  return {
    /** @returns {Promise<void> | undefined} settles when the request may be sent; undefined: at once */
    enter() {
      if (inUse < bound.size && waiting.size === 0) {
        inUse++;
        return undefined;
      }
      bound.noteWaiting?.();
      return new Promise((resolve) => waiting.push(resolve));
    },

    /**
     * Gives the permit back, once for each that was got.
     *
     * @param {number} began when the request was sent, in ms of `performance.now()`
     * @param {unknown} [error] what it failed with
     */
    leave(began, error) {
      inUse--;
      bound.note?.(began, isFailure(error));
      goOn();
    },

    /** Returns a permit with which nothing was sent. It measures nothing, so the bound does not learn of it. */
    cancel() {
      inUse--;
      goOn();
    },

    goOn,
    get inUse() {
      return inUse;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** @typedef {ReturnType<typeof createPermits>} Permits */

/** A refusal is an answer like any other: it says nothing of how busy the database is. @param {unknown} error */
const isFailure = (error) => error instanceof MillraceError && error.code === 'unavailable';
