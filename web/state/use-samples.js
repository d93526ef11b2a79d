import { useEffect, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { useParts } from './hooks.js';
import { keyOf } from './live.js';
import { between, mergeSamples, noSamples } from './samples.js';

/** Samples of one request, and requests of one range: 20,000 samples are more than a chart has pixels. */
const PAGE = 1000;
const PAGES = 20;

/**
 * @typedef {object} History
 * @property {import('./samples.js').Samples} samples
 * @property {boolean} loading
 * @property {boolean} truncated older samples of the range were left out
 * @property {import('../api/problem.js').Problem | null} problem
 */

/**
 * The samples of a sensor in a range, newest pages first, so that the chart fills from the right. A range that ends
 * now goes on: the stream says *that* something was committed, the samples are then read, since one message may carry sixty.
 *
 * @param {{ device_id: string, sensor_id: string } | null} sensor null: not known yet
 * @param {number} rangeMs
 * @param {number | null} until epoch ms of the range's end; null: now, and live
 * @param {number} round another number reads all anew
 * @returns {History}
 */
export function useSamples(sensor, rangeMs, until, round) {
  const { client, live } = useParts();
  const [history, setHistory] = useState(/** @type {History} */ (EMPTY));
  const device = sensor?.device_id ?? '';
  const id = sensor?.sensor_id ?? '';

  useEffect(() => {
    if (!device) return undefined;
    const abort = new AbortController();
    let held = noSamples();
    let reading = false;
    let again = false;

    /** @param {number} from @param {number | null} to epoch ms */
    async function read(from, to) {
      /** @type {string | null} */
      let cursor = null;
      for (let page = 0; page < PAGES; page += 1) {
        /** @type {import('../api/types.js').Page<import('../api/types.js').Measurement>} */
        const { items, next } = await client.measurements(
          device,
          id,
          { from, to, limit: PAGE, cursor },
          abort.signal,
        );
        held = mergeSamples(held, items);
        cursor = next;
        setHistory((now) => ({ ...now, samples: held, problem: null }));
        if (!next) return false;
      }
      return true;
    }

    /** Reads on from the newest sample held; a change that comes meanwhile is read right after. */
    async function readOn() {
      again = true;
      if (reading) return;
      reading = true;
      try {
        while (again) {
          again = false;
          const start = Date.now() - rangeMs;
          held = between(held, start - rangeMs * 0.1, Number.POSITIVE_INFINITY);
          await read(Math.max(held.ts.at(-1) ?? 0, start), null);
        }
      } catch (error) {
        tell(error);
      } finally {
        reading = false;
      }
    }

    /** @param {unknown} error */
    function tell(error) {
      if (!abort.signal.aborted) setHistory((now) => ({ ...now, loading: false, problem: toProblem(error) }));
    }

    async function readAll() {
      setHistory((now) => ({ ...now, loading: true }));
      reading = true;
      try {
        const end = until ?? Date.now();
        const truncated = await read(end - rangeMs, until === null ? null : until + 1);
        setHistory({ samples: held, loading: false, truncated, problem: null });
      } catch (error) {
        tell(error);
      } finally {
        reading = false;
      }
      if (again) await readOn();
    }

    void readAll();
    const unsubscribe =
      until === null
        ? live.subscribe(keyOf({ device_id: device, sensor_id: id }), () => void readOn())
        : null;
    return () => {
      unsubscribe?.();
      abort.abort();
    };
  }, [client, live, device, id, rangeMs, until, round]);

  return history;
}

const EMPTY = { samples: noSamples(), loading: true, truncated: false, problem: null };
