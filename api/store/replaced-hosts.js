/** @typedef {import('cassandra-driver').Host & { shutdown: (drain: boolean) => Promise<void> }} Host */

/**
 * Ends what the driver (4.10) leaves behind when it has lost every node: it finds its way back by making new hosts for
 * the same addresses, and forgets the old ones, whose pools go on trying to reconnect for ever. A process that lived
 * through ten such losses would have eleven pools to one node, and their timers keep it from ending.
 *
 * @param {import('cassandra-driver').Client} client connected
 */
export function endReplacedHosts(client) {
  /** @type {Map<string, Host>} */
  const current = new Map();
  for (const host of client.hosts.values()) current.set(host.address, /** @type {Host} */ (host));
  client.on('hostAdd', (/** @type {Host} */ host) => {
    const replaced = current.get(host.address);
    current.set(host.address, host);
    // What it still has under way is answered first.
    if (replaced && replaced !== host) void replaced.shutdown(true);
  });
}
