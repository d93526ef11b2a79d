import type { Server, Socket } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Metrics } from '../observability/metrics.ts';

export interface Bounds {
  /** the server closes further connections at once */
  connections: number;
  /** connections that have not sent their first request or CONNECT */
  pending: number;
  withinMs?: number;
}

/** A TCP connection counts, so an unfinished TLS handshake counts as well. */
export function boundConnections(
  server: Server,
  listener: 'mqtt' | 'http',
  { connections, pending: limit, withinMs }: Bounds,
  metrics: Metrics,
) {
  const refused = (reason: 'crowded' | 'silent' | 'full', by = 1) =>
    metrics.connectionsRefused.inc({ listener, reason }, by);
  // Start each counter at 0. If a counter first appears as 1, Prometheus sees no increase.
  for (const reason of ['crowded', 'silent', 'full'] as const) refused(reason, 0);
  const pending = new PendingConnections({ limit, withinMs, onClose: refused });
  server.maxConnections = connections;
  server.on('drop', () => refused('full'));
  server.prependListener('connection', (socket: Socket) => pending.enter(socket));
  return pending;
}

type Pending = { shut: (reason: 'crowded' | 'silent') => void; leave: () => void };

/**
 * Limits pending connections, so that a flood of them costs little and locks out no other client. Above the limit it closes the
 * oldest pending connection of the address with the most pending connections. So a flood from one address closes only its own
 * connections. Behind a proxy all clients share one address, and the oldest pending connection of all is closed. IPv6 addresses
 * count by network, because one subscriber has a whole network.
 */
export class PendingConnections {
  #limit;
  #withinMs;
  #onClose;
  #all: Map<string, Pending> = new Map();
  /** pending connections by address, the oldest first */
  #byAddress: Map<string, Set<Pending>> = new Map();

  constructor({
    limit,
    withinMs,
    onClose,
  }: {
    limit: number;
    /** undefined: the server itself closes pending connections */
    withinMs?: number;
    onClose: (reason: 'crowded' | 'silent') => void;
  }) {
    this.#limit = limit;
    this.#withinMs = withinMs;
    this.#onClose = onClose;
  }

  enter(socket: Socket) {
    // A closed socket may have lost its address, so check both.
    if (socket.destroyed || socket.remoteAddress === undefined || this.#all.has(keyOf(socket))) return;
    this.#open(socket, ipKeyGenerator(socket.remoteAddress));
    if (this.#all.size > this.#limit) this.#oldestOfLargest()?.shut('crowded');
  }

  pass(socket: Socket) {
    this.#all.get(keyOf(socket))?.leave();
  }

  get size() {
    return this.#all.size;
  }

  #open(socket: Socket, address: string): Pending {
    const key = keyOf(socket);
    const timer =
      this.#withinMs === undefined ? undefined : setTimeout(() => pending.shut('silent'), this.#withinMs);
    const pending = {
      shut: (reason: 'crowded' | 'silent') => {
        this.#onClose(reason);
        pending.leave();
        socket.destroy();
      },
      leave: () => {
        clearTimeout(timer);
        socket.off('close', pending.leave);
        this.#all.delete(key);
        const others = this.#byAddress.get(address);
        others?.delete(pending);
        if (others?.size === 0) this.#byAddress.delete(address);
      },
    };
    this.#all.set(key, pending);
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(pending));
    socket.once('close', pending.leave);
    return pending;
  }

  #oldestOfLargest(): Pending | undefined {
    let largest: Set<Pending> | undefined;
    for (const group of this.#byAddress.values()) if (!largest || group.size > largest.size) largest = group;
    return largest?.values().next().value;
  }
}

/** A TCP socket and the TLS socket on top of it have the same key. */
const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
