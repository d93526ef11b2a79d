import { randomBytes } from 'node:crypto';
import { changeItem, latestItem } from '../items.js';
import { snapshotOf } from './snapshot.js';
import { follows, readSubscription } from './subscription.js';

/** Changes of one sensor within this time become one, in ms. */
const COALESCE_MS = 250;
const STATS_MS = 1000;
/** A comment this often keeps proxies from closing a quiet stream, in ms. */
const HEARTBEAT_MS = 15_000;
/** A reader that has left this much unread is dropped: it comes back and gets a fresh snapshot; in bytes. */
const MOST_UNREAD = 4 * 1024 * 1024;

/**
 * `GET /stream`: server-sent events. A snapshot of what the reader follows, then its changes, and what the pipeline
 * does. The changes are listened to before the snapshot is read, so that nothing falls between the two.
 *
 * @param {import('../app.js').RouteParts} parts
 */
export function createStream({ store, live, vitals, groups, logger, metrics }) {
  const instance = randomBytes(6).toString('base64url');
  /** @type {Set<() => void>} */
  const open = new Set();
  metrics.gauge('iot_http_streams', 'Readers that follow live values', () => open.size);

  /** @type {import('express').RequestHandler} */
  async function handler(req, res) {
    const subscription = readSubscription(req.url);
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    res.flushHeaders();

    let sequence = 0;
    /** @param {string} event @param {unknown} data */
    const send = (event, data) => {
      res.write(`id: ${instance}-${++sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (res.writableLength > MOST_UNREAD) res.destroy();
    };

    /** @type {Map<string, import('../../live.js').Change>} */
    const changed = new Map();
    let ready = false;
    const unsubscribe = live.subscribe((changes) => {
      for (const change of changes) {
        if (follows(subscription, change)) changed.set(`${change.device_id}/${change.sensor_id}`, change);
      }
    });
    const sendChanges = () => {
      if (!ready || changed.size === 0) return;
      send('delta', { items: [...changed.values()].map(changeItem) });
      changed.clear();
    };
    const timers = [
      setInterval(sendChanges, COALESCE_MS),
      setInterval(() => send('stats', vitals.read()), STATS_MS),
      setInterval(() => res.write(':\n\n'), HEARTBEAT_MS),
    ];
    const close = () => {
      open.delete(close);
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
      res.end();
    };
    open.add(close);
    res.on('close', close);

    send('stats', vitals.read());
    try {
      for await (const rows of snapshotOf(store.fleet, groups, subscription)) {
        if (res.destroyed) return;
        if (rows.length > 0) send('snapshot', { items: rows.map(latestItem) });
      }
      if (sequence === 1) send('snapshot', { items: [] });
      ready = true;
    } catch (error) {
      // The reader's EventSource comes back by itself and asks for the snapshot again.
      logger.warn({ reason: String(error) }, 'a snapshot could not be read; the reader will ask again');
      close();
    }
  }

  return {
    handler,
    /** Ends all streams. */
    stop() {
      for (const close of open) close();
    },
  };
}
