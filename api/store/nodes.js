/**
 * A node of the database, as the driver sees it from here.
 *
 * @typedef {{ address: string, dataCenter: string | null, up: boolean }} DatabaseNode
 */

/**
 * @param {import('cassandra-driver').Client} client
 * @returns {DatabaseNode[]} by address
 */
export const nodesOf = (client) =>
  client.hosts
    .values()
    .map((host) => ({ address: host.address, dataCenter: host.datacenter ?? null, up: host.isUp() }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
