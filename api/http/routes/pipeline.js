import { formatTime } from '../../../common/times.js';
import { nodeItem, processItem } from '../items.js';
import { readQuery } from '../parameters.js';

/**
 * `GET /pipeline/recent`: what it did in the last minutes.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getRecentStats =
  ({ stats }) =>
  (req, res) => {
    readQuery(req, {});
    res.json({ items: stats.recent() });
  };

/**
 * `GET /pipeline`: what runs, and how it is.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getPipeline =
  ({ store, groups, clock }) =>
  async (req, res) => {
    readQuery(req, {});
    const all = Array.from({ length: groups }, (_, group) => store.packProgress.read(group));
    const [rows, ...progress] = await Promise.all([store.processes.all(), ...all]);
    const now = clock();
    const processes = rows.map((row) => processItem(row, now));
    const brokers = processes.flatMap(({ broker, stale }) => (broker && !stale ? [broker] : []));
    res.json({
      processes,
      database: { nodes: store.nodes().map(nodeItem) },
      broker: brokers.find(({ ok }) => !ok) ?? brokers[0] ?? null,
      packed_until: formatTime(Math.min(...progress.map(({ packedUntil }) => packedUntil))),
    });
  };
