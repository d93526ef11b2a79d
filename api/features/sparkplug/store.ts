import type { DeviceBytes } from '../../../schema/ids.ts';
import { int32, int64 } from '../../store/index.ts';
import type { Session } from '../../store/sending/session.ts';

const WRITE_BIRTH = {
  name: 'write_sparkplug_birth',
  cql: 'INSERT INTO sparkplug_birth (device_id, born_at, metrics) VALUES (?, ?, ?)',
};
const SELECT_BIRTH = {
  name: 'read_sparkplug_birth',
  cql: 'SELECT born_at, metrics FROM sparkplug_birth WHERE device_id = ? AND born_at <= ? LIMIT 1',
};
const SELECT_BIRTHS_SINCE = {
  name: 'read_sparkplug_births_since',
  cql: 'SELECT born_at, metrics FROM sparkplug_birth WHERE device_id = ? AND born_at >= ? LIMIT ?',
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

/** Stands in the column `device` for the edge node itself. */
const ITSELF = '';

/** Stands for a birth without a bdSeq. If the cell were not written, it would keep the value of the previous birth. */
const NONE = -1;

/** Both CQL's `timestamp` and JavaScript's `Date` can express this instant, and no later one. Epoch ms. */
const MAX_TIME = 8.64e15;

export function createSparkplugStore(session: Session) {
  return {
    writeBirth: (device: DeviceBytes, bornAt: number, metrics: string) =>
      session.write(WRITE_BIRTH, [device, int64(bornAt), metrics]),

    async birthAt(
      device: DeviceBytes,
      instant: number = MAX_TIME,
    ): Promise<{ bornAt: number; metrics: string } | null> {
      const row = await session.one(SELECT_BIRTH, [device, int64(instant)]);
      return row && { bornAt: row['born_at'].getTime(), metrics: row['metrics'] };
    },

    /** The births at or after the instant, the newest first. */
    async birthsSince(
      device: DeviceBytes,
      instant: number,
      limit: number,
    ): Promise<Array<{ bornAt: number; metrics: string }>> {
      const rows = await session.all(SELECT_BIRTHS_SINCE, [device, int64(instant), int32(limit)], limit);
      return rows.map((row) => ({ bornAt: row['born_at'].getTime(), metrics: row['metrics'] }));
    },

    /** @param bdSeq null: the newest birth of the node has none */
    writeNode: (node: Buffer, bdSeq: number | null) =>
      session.write(WRITE_NODE, [node, ITSELF, int64(bdSeq ?? NONE)]),

    async node(node: Buffer): Promise<{ bdSeq: number | null } | null> {
      const row = await session.one(SELECT_NODE, [node, ITSELF]);
      const bdSeq = Number(row?.['bd_seq']);
      return row && { bdSeq: bdSeq === NONE ? null : bdSeq };
    },

    writeDevice: (node: Buffer, device: string) => session.write(WRITE_NODE, [node, device, undefined]),

    async devices(node: Buffer): Promise<string[]> {
      const rows = await session.all(SELECT_DEVICES, [node, ITSELF]);
      return rows.map((row) => row['device']);
    },
  };
}

export type SparkplugStore = ReturnType<typeof createSparkplugStore>;
