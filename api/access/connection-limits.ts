import { ipKeyGenerator } from 'express-rate-limit';

/** @import { Server, Socket } from 'node:net' */
/** @import { Metrics } from '../observability/metrics.js' */

/**
 * Limits of a server's connections.
 *
 * @typedef {object} Bounds
 * @property {number} connections limit of all connections; the server closes further connections at once
 * @property {number} pending limit of connections that have not sent their first request or CONNECT
 * @property {number} [withinMs] time in ms for which a connection may be pending
 */

/**
 * Limits the connections of a server, with or without TLS. It counts TCP connections, so an unfinished TLS handshake counts as
 * well.
 *
 * @param {Server} server
 * @param {'mqtt' | 'http'} listener value of a label of the metric
 * @param {Bounds} bounds
 * @param {Metrics} metrics
 */
export function boundConnections(server, listener, { connections, pending: limit, withinMs }, metrics) {
  const refused = (/** @type {'crowded' | 'silent' | 'full'} */ reason, by = 1) =>
    metrics.connectionsRefused.inc({ listener, reason }, by);
  // Start each counter at 0. If a counter first appears as 1, Prometheus sees no increase.
  for (const reason of /** @type {const} */ (['crowded', 'silent', 'full'])) refused(reason, 0);
  const pending = new PendingConnections({ limit, withinMs, onClose: refused });
  server.maxConnections = connections;
  server.on('drop', () => refused('full'));
  server.prependListener('connection', (/** @type {Socket} */ socket) => pending.enter(socket));
  return pending;
}

/** @typedef {{ shut: (reason: 'crowded' | 'silent') => void, leave: () => void }} Pending */

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
  /** @type {Map<string, Pending>} pending connections by `keyOf` */
  #all = new Map();
  /** @type {Map<string, Set<Pending>>} pending connections by address, the oldest first */
  #byAddress = new Map();

  /**
   * @param {object} options
   * @param {number} options.limit pending connections
   * @param {number} [options.withinMs] time in ms after which a pending connection is closed; undefined: the server itself
   *   closes it
   * @param {(reason: 'crowded' | 'silent') => void} options.onClose called for each connection that these limits close
   */
  constructor({ limit, withinMs, onClose }) {
    this.#limit = limit;
    this.#withinMs = withinMs;
    this.#onClose = onClose;
  }

  /** Adds a connection that is new, or that waits for its next request. @param {Socket} socket */
  enter(socket) {
    // A closed socket may have lost its address, so check both.
    if (socket.destroyed || socket.remoteAddress === undefined || this.#all.has(keyOf(socket))) return;
    this.#open(socket, ipKeyGenerator(socket.remoteAddress));
    if (this.#all.size > this.#limit) this.#oldestOfLargest()?.shut('crowded');
  }

  /** Removes a connection that has sent its request. @param {Socket} socket the TCP socket, or the TLS socket on top of it */
  pass(socket) {
    this.#all.get(keyOf(socket))?.leave();
  }

  /** Number of pending connections. */
  get size() {
    return this.#all.size;
  }

  /** @param {Socket} socket @param {string} address @returns {Pending} */
  #open(socket, address) {
    const key = keyOf(socket);
    const timer =
      this.#withinMs === undefined ? undefined : setTimeout(() => pending.shut('silent'), this.#withinMs);
    const pending = {
      shut: (/** @type {'crowded' | 'silent'} */ reason) => {
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

  /** @returns {Pending | undefined} the oldest connection of the address with the most pending connections */
  #oldestOfLargest() {
    /** @type {Set<Pending> | undefined} */
    let largest;
    for (const group of this.#byAddress.values()) if (!largest || group.size > largest.size) largest = group;
    return largest?.values().next().value;
  }
}

/** The key of a connection. A TCP socket and the TLS socket on top of it have the same key. @param {Socket} socket */
const keyOf = ({ remoteAddress, remotePort }) => `${remoteAddress} ${remotePort}`;
