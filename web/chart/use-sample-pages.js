import { useEffect, useState } from 'preact/hooks';
import { useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { useQuery } from '../state/use-query.js';
import { lengthOf } from './window.js';

/** @import { Window } from './window.js' */

export const PAGE_ROWS = 25;
/** New samples join the first page no more often than this. */
const NEWS_MS = 1_000;

/**
 * @typedef {{ from: number, to: number | null }} Range epoch ms
 * @typedef {{ cursor: string, range: Range }} Step a page that is not the first; its cursor is good for its range only
 */

/**
 * The samples of a window, page by page. The first page of a live one goes on; the others stand still.
 *
 * @param {{ device_id: string, sensor_id: string }} sensor
 * @param {Window} window
 * @param {'asc' | 'desc'} order
 */
export function useSamplePages(sensor, window, order) {
  const { client, live } = useParts();
  const { live: isLive, from, to } = window;
  const of = JSON.stringify([keyOf(sensor), isLive ? lengthOf(window) : [from, to], order]);
  const [walk, setWalk] = useState({ of, steps: /** @type {Step[]} */ ([]) });
  // Another window begins with its first page.
  const steps = walk.of === of ? walk.steps : [];
  const step = steps.at(-1) ?? null;

  const answer = useQuery(JSON.stringify([of, step?.cursor]), async (signal) => {
    const range = step?.range ?? { from, to: isLive ? null : to };
    const query = { ...range, order, limit: PAGE_ROWS, cursor: step?.cursor };
    return { range, ...(await client.measurements(sensor.device_id, sensor.sensor_id, query, signal)) };
  });

  const goesOn = isLive && order === 'desc' && step === null;
  const { reload } = answer;
  useEffect(() => {
    if (!goesOn) return undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const unsubscribe = live.subscribe(keyOf(sensor), () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        reload();
      }, NEWS_MS);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [live, goesOn, of, reload]);

  const { data } = answer;
  const next = data?.next ?? null;
  return {
    ...answer,
    items: data?.items ?? [],
    number: steps.length + 1,
    isFirst: steps.length === 0,
    goFirst: () => setWalk({ of, steps: [] }),
    goBack: steps.length === 0 ? null : () => setWalk({ of, steps: steps.slice(0, -1) }),
    goOn: data && next ? () => setWalk({ of, steps: [...steps, { cursor: next, range: data.range }] }) : null,
  };
}
