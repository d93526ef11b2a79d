import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { steadyPort } from '../../../infra/engine/ports.ts';

/**
 * The ways in which a network fails.
 *
 * - `refuse`: every connection breaks, and nothing listens on the port.
 * - `reset`: every connection breaks, and new ones break at once.
 * - `silence`: connections stay, and no bytes pass, as when packets are lost. The bytes pass afterwards.
 */
type Cut = 'refuse' | 'reset' | 'silence';

/** Callbacks for the bytes of one connection. */
type Tap = { fromClient?: (chunk: Buffer) => void; fromServer?: (chunk: Buffer) => void };

/**
 * Starts a proxy between a client and a server. It can fail as a network does, and recover on the same port.
 * @param url of the server, such as mqtt://127.0.0.1:1883
 * @param listen called for every connection
 */
export async function startTcpProxy(url: string, listen: () => Tap = () => ({})) {
  const { protocol, hostname, port } = new URL(url);
  const ownPort = await steadyPort();
  const sockets: Set<Socket> = new Set();
  let cut: Cut | null = null;

  /** Forwards the bytes of one side to the other. A side that does not read slows the other down. */
  function pass(from: Socket, to: Socket, tap: ((chunk: Buffer) => void) | undefined) {
    sockets.add(from);
    from.on('data', (chunk) => {
      tap?.(chunk);
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (cut !== 'silence') from.resume();
    });
    from.on('end', () => to.end());
    from.on('error', () => {}); // The event `close` follows, and ends the other side.
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
    const previous = cut;
    cut = null;
    if (!server.listening) {
      server.listen(ownPort, '127.0.0.1');
      await once(server, 'listening');
    }
    if (previous === 'silence') for (const socket of sockets) socket.resume();
  }

  function breakAll() {
    for (const socket of sockets) socket.destroy();
  }

  await open();
  return {
    url: `${protocol}//127.0.0.1:${ownPort}`,
    port: ownPort,
    open,
    breakAll,

    /** @param mode until `open` */
    cut(mode: Cut) {
      cut = mode;
      if (mode === 'refuse') server.close();
      if (mode === 'silence') for (const socket of sockets) socket.pause();
      else for (const socket of sockets) socket.resetAndDestroy();
    },

    async stop() {
      if (server.listening) server.close();
      breakAll();
      while (sockets.size > 0) await once([...sockets][0] as Socket, 'close');
    },
  };
}

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;
