import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A node behind the link. */
interface End {
  /** address under which the link listens */
  outside: string;
  /** address of the node */
  inside: string;
}

/**
 * The network between data centers: each connection to an address outside leads to the node inside, and each byte arrives later. Nodes of
 * one data center do not use it, except for their first connection.
 */
export class Link {
  #ends;
  #port;
  #delayMs;
  #servers: Server[] = [];
  #sockets: Set<Socket> = new Set();
  #isCut = false;

  /** @param options `roundTripMs`: delay of a request and its answer */
  constructor({ ends, port, roundTripMs }: { ends: End[]; port: number; roundTripMs: number }) {
    this.#ends = ends;
    this.#port = port;
    this.#delayMs = roundTripMs / 2;
  }

  async start() {
    for (const { outside, inside } of this.#ends) {
      const server = createServer({ noDelay: true }, (client) => this.#join(client, inside));
      server.listen(this.#port, outside);
      await once(server, 'listening');
      this.#servers.push(server);
    }
  }

  /** Connections stay, and no bytes pass, as when packets are lost. */
  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Delayed bytes pass. */
  open() {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async stop() {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    while (this.#sockets.size > 0) await once([...this.#sockets][0] as Socket, 'close');
  }

  #join(client: Socket, inside: string) {
    const node = connect({ port: this.#port, host: inside, noDelay: true });
    this.#forward(client, node);
    this.#forward(node, client);
  }

  /** Timers of the same duration fire in the order of their creation. */
  #forward(from: Socket, to: Socket) {
    const later = (action: () => void) => setTimeout(action, this.#delayMs);
    this.#sockets.add(from);
    from.on('data', (chunk) =>
      later(() => {
        if (!to.write(chunk)) from.pause();
      }),
    );
    to.on('drain', () => {
      if (!this.#isCut) from.resume();
    });
    from.on('end', () => later(() => to.end()));
    from.on('error', () => {}); // The event `close` follows.
    from.on('close', () => {
      this.#sockets.delete(from);
      later(() => to.destroy());
    });
    if (this.#isCut) from.pause();
  }
}
