import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Json } from '../json.ts';
import { listening } from './listening.ts';

type Received = { headers: IncomingHttpHeaders; body: string; alarm: Json; event: string };

/** `late`: answers after 1 s. `holds`: accepts requests, and answers them when it becomes `takes`. */
type Behavior = 'takes' | 'fails' | 'hangs' | 'late' | 'holds';

export async function startReceiver() {
  const received: Received[] = [];
  let behavior: Behavior = 'takes';
  let refused = 0;
  /** Answers that wait. */
  const held: Array<() => void> = [];
  const server = createServer(async (req, res) => {
    const body = await text(req);
    if (behavior === 'hangs') return;
    if (behavior === 'fails') {
      refused++;
      res.writeHead(503).end();
      return;
    }
    if (behavior === 'late') await new Promise((resolve) => setTimeout(resolve, 1000));
    received.push({ headers: req.headers, body, ...JSON.parse(body) });
    if (behavior === 'holds') await new Promise((resolve) => held.push(() => resolve(undefined)));
    res.writeHead(204).end();
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    refused: () => refused,
    become(next: Behavior) {
      behavior = next;
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
