import { randomBytes } from 'node:crypto';
import { changeItem, latestItem } from '../items.js';
import { createPending } from './pending.js';
import { createReader } from './reader.js';
import { snapshotOf } from './snapshot.js';
import { follows, readSubscription } from './subscription.js';

/**
 * - `coalesce`: changes of one sensor within this time become one
 * - `stats`: what the pipeline does is told this often
 * - `heartbeat`: a quiet stream carries a comment this often; who reads nothing between two of them is dropped
 */
const PERIODS_MS = { coalesce: 250, stats: 1000, heartbeat: 15_000 };

/** Items of one `delta`. */
const MOST_ITEMS = 1000;

/**
 * `GET /stream`: server-sent events. A snapshot of what the reader follows, then its changes, and what the pipeline
 * does. The changes are listened to before the snapshot is read, so that nothing falls between the two. Every
 * connection begins with a snapshot, whatever id it asks to go on from: so there is never a gap.
 *
 * @param {Pick<import('../api.js').RouteParts, 'store' | 'live' | 'vitals' | 'groups' | 'logger' | 'metrics'>} parts
 * @param {typeof PERIODS_MS} [periods]
 */
export function createStream({ store, live, vitals, groups, logger, metrics }, periods = PERIODS_MS) {
  const instance = randomBytes(6).toString('base64url');
  /** @type {Set<() => void>} */
  const open = new Set();
  metrics.gauge('iot_http_streams', 'Readers that follow live values', () => open.size);

  /** @type {import('express').RequestHandler} */
  async function handler(req, res) {
    const subscription = readSubscription(req.url);
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    if (req.method === 'HEAD') return void res.end();
    res.flushHeaders();

    const reader = createReader(res, instance);
    const pending = createPending();
    let complete = false;
    const sendChanges = () => {
      // A reader that is behind is told less often, and then of the newest alone.
      while (complete && pending.size > 0 && reader.isOpen() && !reader.isBehind()) {
        reader.send('delta', { items: pending.take(MOST_ITEMS).map(changeItem) });
      }
    };
    const sendStats = () => {
      if (!reader.isBehind()) reader.send('stats', vitals.read());
    };
    const unsubscribe = live.subscribe((changes) => {
      for (const change of changes) if (follows(subscription, change)) pending.add(change);
    });
    const timers = [
      setInterval(sendChanges, periods.coalesce),
      setInterval(sendStats, periods.stats),
      setInterval(reader.beat, periods.heartbeat),
    ];
    const close = () => {
      open.delete(close);
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
      reader.end();
    };
    open.add(close);
    res.on('close', close);

    sendStats();
    try {
      await sendSnapshot(reader, pending, subscription);
      complete = true;
    } catch (error) {
      // The reader's EventSource comes back by itself and asks for the snapshot again.
      logger.warn({ reason: String(error) }, 'a snapshot could not be read; the reader will ask again');
      close();
    }
  }

  /**
   * @param {import('./reader.js').Reader} reader
   * @param {import('./pending.js').Pending} pending
   * @param {import('./subscription.js').Subscription} subscription
   */
  async function sendSnapshot(reader, pending, subscription) {
    let sent = false;
    for await (const rows of snapshotOf(store.fleet, groups, subscription)) {
      if (rows.length === 0) continue;
      pending.forget(rows);
      reader.send('snapshot', { items: rows.map(latestItem) });
      sent = true;
      await reader.caughtUp();
      if (!reader.isOpen()) return;
    }
    // Who follows what does not exist yet is told so, and hears of it as soon as it does.
    if (!sent) reader.send('snapshot', { items: [] });
  }

  return {
    handler,
    /** Ends all streams. */
    stop() {
      for (const close of open) close();
    },
  };
}
