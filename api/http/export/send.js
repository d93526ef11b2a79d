import { once } from 'node:events';
import { createTimes } from './formats.js';

/** What is written at once, in characters: small writes would cost more than all that is in them. */
const CHUNK = 64 * 1024;

/**
 * Writes samples to a client, no faster than he takes them. Nothing is sent before the first of them are read, so that a
 * database that is away can still be told as a problem.
 *
 * @param {import('express').Response} res with its headers set, but not sent
 * @param {import('./formats.js').Format} format
 * @param {AsyncGenerator<import('../../../schema/packed/series.js').Series, void>} all each sorted
 * @param {{ from: number, to: number, order: 'asc' | 'desc', signal: AbortSignal }} options what is outside [from, to) is left
 *   out; `signal`: the client has gone
 */
export async function sendSamples(res, { head, line }, all, { from, to, order, signal }) {
  const timeOf = createTimes();
  const step = order === 'asc' ? 1 : -1;
  let text = head;
  for await (const { times, values } of all) {
    for (let at = order === 'asc' ? 0 : times.length - 1; at >= 0 && at < times.length; at += step) {
      const ts = /** @type {number} */ (times[at]);
      if (ts < from || ts >= to) continue;
      text += line(timeOf(ts), /** @type {number} */ (values[at]));
      if (text.length < CHUNK) continue;
      await write(res, text, signal);
      text = '';
    }
  }
  res.end(text, 'latin1');
}

/** @param {import('express').Response} res @param {string} text ASCII @param {AbortSignal} signal */
async function write(res, text, signal) {
  signal.throwIfAborted();
  if (!res.write(text, 'latin1')) await once(res, 'drain', { signal });
}
