import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Json } from '../json.ts';
import { listening } from './listening.ts';

type Received = { headers: IncomingHttpHeaders; body: string; alarm: Json; event: string };

/**
 * Behavior of the receiver: accepts requests, fails, never answers, answers after a second, or accepts requests and holds its answers
 * until it becomes `takes`.
 */
type Mood = 'takes' | 'fails' | 'hangs' | 'late' | 'holds';

export async function startReceiver() {
  const received: Received[] = [];
  let mood: Mood = 'takes';
  let refused = 0;
  /** Answers that wait. */
  const held: Array<() => void> = [];
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
    become(next: Mood) {
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

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
