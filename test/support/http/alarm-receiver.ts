import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from './listening.js';

/** @import { IncomingHttpHeaders } from 'node:http' */

/** @typedef {{ headers: IncomingHttpHeaders, body: string, alarm: any, event: string }} Received */

/**
 * Behavior of the receiver: accepts requests, fails, never answers, answers after a second, or accepts requests and holds its answers
 * until it becomes `takes`.
 *
 * @typedef {'takes' | 'fails' | 'hangs' | 'late' | 'holds'} Mood
 */

/** Starts a receiver of webhooks that changes its behavior. */
export async function startReceiver() {
  /** @type {Received[]} */
  const received = [];
  /** @type {Mood} */
  let mood = 'takes';
  let refused = 0;
  /** Answers that wait. @type {Array<() => void>} */
  const held = [];
  const server = createServer(async (req, res) => {
    const body = await text(req);
    if (mood === 'hangs') return;
    if (mood === 'fails') {
      refused++;
      res.writeHead(503).end();
      return;
    }
    if (mood === 'late') await new Promise((resolve) => setTimeout(resolve, 1000));
    received.push({ headers: req.headers, body, ...JSON.parse(body) });
    if (mood === 'holds') await new Promise((resolve) => held.push(() => resolve(undefined)));
    res.writeHead(204).end();
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    refused: () => refused,
    /** @param {Mood} next */
    become(next) {
      mood = next;
      if (next === 'takes') for (const answer of held.splice(0)) answer();
      if (next !== 'hangs') server.closeIdleConnections();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */
