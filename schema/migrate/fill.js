/** @import { Client } from 'cassandra-driver' */

/** Rows that are read at once. */
const PAGE = 1000;

/**
 * What a migration fills its new tables with, by the migration's name: rows that follow from others, written again
 * harmlessly when it broke off.
 *
 * @type {Record<string, (client: Client, groups: number) => Promise<void>>}
 */
export const FILLS = { '008-events.cql': fillDeviceSites };

/**
 * Devices that registered before there was an index of their sites. Rows get the stamp of the site that they tell of.
 *
 * @param {Client} client connected to the keyspace
 * @param {number} groups `LATEST_GROUPS`
 */
async function fillDeviceSites(client, groups) {
  for (let group = 0; group < groups; group++) {
    const devices = await client.execute(
      'SELECT device_id, site, WRITETIME(site) AS stamp FROM device WHERE grp = ?',
      [group],
      { fetchSize: PAGE },
    );
    for await (const { device_id: id, site, stamp } of devices) {
      if (site === null) continue;
      await client.execute(
        'INSERT INTO device_by_site (site, grp, device_id, written_at) VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
        [site, group, id, new Date(), stamp],
      );
    }
  }
}
