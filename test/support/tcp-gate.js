import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { steadyPort } from '../../infra/engine/ports.js';

/** @import { Socket } from 'node:net' */

/**
 * How a network may fail.
 *
 * - `refuse`: every connection breaks, and nobody listens any more.
 * - `reset`: every connection breaks, new ones as soon as they are made.
 * - `silence`: connections stay, and nothing passes, as when packets are lost; what was sent passes afterwards.
 *
 * @typedef {'refuse' | 'reset' | 'silence'} Cut
 */

/** Reads along, in one connection. @typedef {{ fromClient?: (chunk: Buffer) => void, fromServer?: (chunk: Buffer) => void }} Tap */

/**
 * A listener between a client and a server, which can fail as a network does and recover, always on the same port.
 *
 * @param {string} url of the server, such as mqtt://127.0.0.1:1883
 * @param {() => Tap} [listen] called for every connection
 */
export async function startGate(url, listen = () => ({})) {
  const { protocol, hostname, port } = new URL(url);
  const own = await steadyPort();
  /** @type {Set<Socket>} */
  const sockets = new Set();
  /** @type {Cut | null} */
  let cut = null;

  /** What one side sends goes to the other; a side that does not read holds the other back. @param {Socket} from @param {Socket} to @param {((chunk: Buffer) => void) | undefined} tap */
  function pass(from, to, tap) {
    sockets.add(from);
    from.on('data', (chunk) => {
      tap?.(chunk);
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (cut !== 'silence') from.resume();
    });
    from.on('end', () => to.end());
    from.on('error', () => {}); // Its `close` follows, and ends the other side.
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (cut === 'silence') from.pause();
  }

  const server = createServer((client) => {
    if (cut === 'reset') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    const tap = listen();
    pass(client, upstream, tap.fromClient);
    pass(upstream, client, tap.fromServer);
  });

  async function open() {
    const was = cut;
    cut = null;
    if (!server.listening) {
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    }
    if (was === 'silence') for (const socket of sockets) socket.resume();
  }

  /** Breaks every connection, and lets new ones in. */
  function breakAll() {
    for (const socket of sockets) socket.destroy();
  }

  await open();
  return {
    url: `${protocol}//127.0.0.1:${own}`,
    port: own,
    open,
    breakAll,

    /** @param {Cut} how until `open` */
    cut(how) {
      cut = how;
      if (how === 'refuse') server.close();
      if (how === 'silence') for (const socket of sockets) socket.pause();
      else for (const socket of sockets) socket.resetAndDestroy();
    },

    async stop() {
      if (server.listening) server.close();
      breakAll();
      while (sockets.size > 0) await once(/** @type {Socket} */ ([...sockets][0]), 'close');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startGate>>} Gate */
