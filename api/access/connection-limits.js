import { ipKeyGenerator } from 'express-rate-limit';

/** @import { Server, Socket } from 'node:net' */
/** @import { Metrics } from '../observability/metrics.js' */

/**
 * Most connections that a server keeps, and of these most of which nothing is known yet.
 *
 * @typedef {object} Bounds
 * @property {number} connections all together; what is beyond is closed as it comes
 * @property {number} pending see `pending-connections.js`
 * @property {number} [withinMs] how long one may be pending
 */

/**
 * Bounds the connections of a server, with or without TLS: what is counted is TCP, so a handshake of TLS that is never
 * finished counts as well.
 *
 * @param {Server} server
 * @param {'mqtt' | 'http'} listener for the metric
 * @param {Bounds} bounds
 * @param {Metrics} metrics
 */
export function boundConnections(server, listener, { connections, pending: most, withinMs }, metrics) {
  const refused = (/** @type {'crowded' | 'silent' | 'full'} */ reason, by = 1) =>
    metrics.connectionsRefused.inc({ listener, reason }, by);
  // What first appears as 1 shows no increase to Prometheus.
  for (const reason of /** @type {const} */ (['crowded', 'silent', 'full'])) refused(reason, 0);
  const pending = createPendingConnections({ most, withinMs, onShut: refused });
  server.maxConnections = connections;
  server.on('drop', () => refused('full'));
  server.prependListener('connection', pending.enter);
  return pending;
}

/** @typedef {ReturnType<typeof boundConnections>} PendingConnections */

/**
 * Bounds the connections of which nothing is known yet, so that a flood of them costs little and shuts out nobody else:
 * of too many, the oldest goes of that address which has most. So a flood from one address closes its own alone; behind
 * a proxy, where all have one address, the oldest goes. Addresses of IPv6 count by their network, of which one
 * subscriber has the whole.
 *
 * @param {object} bounds
 * @param {number} bounds.most connections that may wait at once
 * @param {number} [bounds.withinMs] one that waits for longer is closed; none: its server sees to that
 * @param {(reason: 'crowded' | 'silent') => void} bounds.onShut told of each that is closed
 */
function createPendingConnections({ most, withinMs, onShut }) {
  /** @typedef {{ shut: (reason: 'crowded' | 'silent') => void, leave: () => void }} Pending */
  /** @type {Map<string, Pending>} by `nameOf` */
  const all = new Map();
  /** @type {Map<string, Set<Pending>>} the oldest of each address first */
  const byAddress = new Map();

  /** @param {Socket} socket @param {string} address @returns {Pending} */
  function open(socket, address) {
    const name = nameOf(socket);
    const timer = withinMs === undefined ? undefined : setTimeout(() => pending.shut('silent'), withinMs);
    const pending = {
      shut(/** @type {'crowded' | 'silent'} */ reason) {
        onShut(reason);
        pending.leave();
        socket.destroy();
      },
      leave() {
        clearTimeout(timer);
        socket.off('close', pending.leave);
        all.delete(name);
        const others = byAddress.get(address);
        others?.delete(pending);
        if (others?.size === 0) byAddress.delete(address);
      },
    };
    all.set(name, pending);
    byAddress.set(address, (byAddress.get(address) ?? new Set()).add(pending));
    socket.once('close', pending.leave);
    return pending;
  }

  /** @returns {Pending | undefined} the oldest of the address that has most */
  function oldestOfMost() {
    /** @type {Set<Pending> | undefined} */
    let crowd;
    for (const each of byAddress.values()) if (!crowd || each.size > crowd.size) crowd = each;
    return crowd?.values().next().value;
  }

  return {
    /** A connection that has said nothing yet, or nothing more. @param {Socket} socket */
    enter(socket) {
      // One that is gone may still have its address, or none any more.
      if (socket.destroyed || socket.remoteAddress === undefined || all.has(nameOf(socket))) return;
      open(socket, ipKeyGenerator(socket.remoteAddress));
      if (all.size > most) oldestOfMost()?.shut('crowded');
    },

    /** It has said enough. @param {Socket} socket the same one, or that of TLS upon it */
    pass: (socket) => all.get(nameOf(socket))?.leave(),

    /** How many wait. */
    get size() {
      return all.size;
    },
  };
}

/** One connection is called so at both its ends, and so is what TLS makes of it. @param {Socket} socket */
const nameOf = ({ remoteAddress, remotePort }) => `${remoteAddress} ${remotePort}`;
