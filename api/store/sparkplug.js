import { int64 } from './cells.js';

/** @import { Session } from './session.js' */

const WRITE_BIRTH = {
  name: 'write_sparkplug_birth',
  cql: 'INSERT INTO sparkplug_birth (device_id, born_at, metrics) VALUES (?, ?, ?)',
};
const SELECT_BIRTH = {
  name: 'read_sparkplug_birth',
  cql: 'SELECT born_at, metrics FROM sparkplug_birth WHERE device_id = ? AND born_at <= ? LIMIT 1',
};
const WRITE_NODE = {
  name: 'write_sparkplug_node',
  cql: 'INSERT INTO sparkplug_node (node_id, device, bd_seq) VALUES (?, ?, ?)',
};
const SELECT_NODE = {
  name: 'read_sparkplug_node',
  cql: 'SELECT bd_seq FROM sparkplug_node WHERE node_id = ? AND device = ?',
};
const SELECT_DEVICES = {
  name: 'read_sparkplug_devices',
  cql: 'SELECT device FROM sparkplug_node WHERE node_id = ? AND device > ?',
};

/** In the place of a device's name: the node itself. */
const ITSELF = '';

/** A bdSeq that a birth did not tell; a cell that is left out would keep that of the birth before. */
const NONE = -1;

/** The last moment that CQL's `timestamp` and a `Date` both know, in epoch ms. */
const END_OF_TIME = 8.64e15;

/** @param {Session} session */
export function createSparkplugStore(session) {
  return {
    /**
     * @param {Buffer} device 16 bytes, of a device or of a node
     * @param {number} bornAt epoch ms
     * @param {string} metrics
     */
    writeBirth: (device, bornAt, metrics) => session.write(WRITE_BIRTH, [device, int64(bornAt), metrics]),

    /**
     * @param {Buffer} device 16 bytes, of a device or of a node
     * @param {number} [at] epoch ms; default: whenever
     * @returns {Promise<{ bornAt: number, metrics: string } | null>} the newest birth that is not after it
     */
    async birthAt(device, at = END_OF_TIME) {
      const row = await session.one(SELECT_BIRTH, [device, int64(at)]);
      return row && { bornAt: row['born_at'].getTime(), metrics: row['metrics'] };
    },

    /** @param {Buffer} node 16 bytes @param {number | null} bdSeq of its newest birth */
    writeNode: (node, bdSeq) => session.write(WRITE_NODE, [node, ITSELF, int64(bdSeq ?? NONE)]),

    /** @param {Buffer} node 16 bytes @returns {Promise<{ bdSeq: number | null } | null>} null: it was never born */
    async node(node) {
      const row = await session.one(SELECT_NODE, [node, ITSELF]);
      const bdSeq = Number(row?.['bd_seq']);
      return row && { bdSeq: bdSeq === NONE ? null : bdSeq };
    },

    /** @param {Buffer} node 16 bytes @param {string} device the last level of its topic */
    writeDevice: (node, device) => session.write(WRITE_NODE, [node, device, undefined]),

    /** @param {Buffer} node 16 bytes @returns {Promise<string[]>} the devices that were ever born of it */
    async devices(node) {
      const rows = await session.all(SELECT_DEVICES, [node, ITSELF]);
      return rows.map((row) => row['device']);
    },
  };
}

/** @typedef {ReturnType<typeof createSparkplugStore>} SparkplugStore */
