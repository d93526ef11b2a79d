import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import { encodeStamp, int64, type Stamp, writeTimestamp } from '../cql-values.ts';
import { createNewestReads } from '../devices/latest-rows.ts';
import { correctedStamps } from '../latest/corrected.ts';
import type { Unwritten } from '../measurements/reads.ts';
import type { Session } from '../sending/session.ts';
import { type DeviceKey, type DeviceRow, deviceRow, type SensorRow, sensorRow } from './rows.ts';
import { type PartitionWrite, sensorWrites } from './sensor-writes.ts';

const SELECT_DEVICE = {
  name: 'read_device',
  cql: 'SELECT name, site, label, state, WRITETIME(state) AS state_stamp, session, WRITETIME(session) AS session_stamp, ended_sessions, clock_offset, described_at, WRITETIME(described_at) AS described_at_stamp, last_seen, registered_at, retired_at FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_RETIRED_AT = {
  name: 'read_retired_at',
  cql: 'SELECT retired_at FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_SENSORS = {
  name: 'read_sensors',
  cql: 'SELECT sensor_id, device, name, type, unit, site, label, interval_ms, registered_at FROM sensor WHERE grp = ? AND device_id = ?',
};
const SELECT_CORRECTED = {
  name: 'read_corrected',
  cql: 'SELECT corrected FROM latest WHERE grp = ? AND device_id = ?',
};
const COUNT_DEVICES = {
  name: 'count_devices',
  cql: 'SELECT count(registered_at) AS devices FROM device WHERE grp = ?',
};
const WRITE_DEVICE = {
  name: 'write_device',
  cql: 'INSERT INTO device (grp, device_id, name, site, label, session, ended_sessions, clock_offset, described_at, registered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const WRITE_STATUS = {
  name: 'write_status',
  cql: 'UPDATE device USING TIMESTAMP ? SET state = ?, session = ?, ended_sessions = ?, clock_offset = ? WHERE grp = ? AND device_id = ?',
};
const INDEX_DEVICE = {
  name: 'index_device',
  cql: 'INSERT INTO device_by_site (site, grp, device_id, written_at) VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
};
const WRITE_SENSORS_AT = {
  name: 'write_sensors_at',
  cql: 'UPDATE device USING TIMESTAMP ? SET sensors_at = ? WHERE grp = ? AND device_id = ?',
};

export function createRegistryStore(session: Session, unwritten?: Pick<Unwritten, 'newestOf'>) {
  const newest = createNewestReads(session, unwritten);

  return {
    async device({ group, bytes }: DeviceKey): Promise<DeviceRow | null> {
      const row = await session.one(SELECT_DEVICE, [group, bytes]);
      return row?.['registered_at'] ? deviceRow(row) : null;
    },

    /** @returns null: the device was never retired */
    async retiredAt({ group, bytes }: DeviceKey): Promise<number | null> {
      const row = await session.one(SELECT_RETIRED_AT, [group, bytes]);
      return row?.['retired_at']?.getTime() ?? null;
    },

    /** `corrected`: write timestamp of the entry of `latest`, if a correction has changed it */
    async sensors({
      group,
      bytes,
    }: DeviceKey): Promise<Array<SensorRow & { corrected?: Stamp | undefined }>> {
      const [rows, values, latest] = await Promise.all([
        session.all(SELECT_SENSORS, [group, bytes], MAX_SENSORS_PER_DEVICE),
        newest.ofDevice({ group, bytes }),
        session.one(SELECT_CORRECTED, [group, bytes]),
      ]);
      const stamps = correctedStamps(latest);
      return rows.map((row) => {
        const sensor = sensorRow(row, values);
        return { ...sensor, corrected: stamps.get(sensor.id) };
      });
    },

    async countDevices(groups: number): Promise<number> {
      let devices = 0;
      for (let group = 0; group < groups; group++) {
        const row = await session.one(COUNT_DEVICES, [group]);
        devices += Number(row?.['devices'] ?? 0);
      }
      return devices;
    },

    /** Commit this write before `writeDevice`: see `sensorWrites` for the reason. */
    indexDevice: ({ group, bytes }: DeviceKey, site: string, now: number, stamp: Stamp) =>
      session.write(INDEX_DEVICE, [site, group, bytes, int64(now), encodeStamp(stamp)]),

    writeSensorsAt: ({ group, bytes }: DeviceKey, now: number) =>
      session.write(WRITE_SENSORS_AT, [writeTimestamp(now), int64(now), group, bytes]),

    writeDevice: (
      { group, bytes }: DeviceKey,
      change: {
        name?: string;
        site?: string;
        label?: string;
        describedAt?: number;
        registeredAt?: number;
      } & SessionChange,
      stamp: Stamp,
    ) =>
      session.write(WRITE_DEVICE, [
        group,
        bytes,
        change.name,
        change.site,
        change.label,
        ...sessionCells(change),
        optionalTime(change.describedAt),
        optionalTime(change.registeredAt),
        encodeStamp(stamp),
      ]),

    writeStatus: (
      { group, bytes }: DeviceKey,
      change: { state: 'online' | 'offline' } & SessionChange,
      stamp: Stamp,
    ) =>
      session.write(WRITE_STATUS, [encodeStamp(stamp), change.state, ...sessionCells(change), group, bytes]),

    /** Commit the writes one by one, in the order that `sensorWrites` describes. */
    sensorWrites,

    commit: ({ name, queries }: PartitionWrite) => session.writeBatch(name, queries),
  };
}

export type RegistryStore = ReturnType<typeof createRegistryStore>;

/** Columns that change with a session. `session`: epoch ms; `clockOffset`: ms */
type SessionChange = { session?: number; endedSessions?: number[]; clockOffset?: number };

const sessionCells = ({ session, endedSessions, clockOffset }: SessionChange) => [
  optionalTime(session),
  endedSessions && JSON.stringify(endedSessions),
  clockOffset === undefined ? undefined : int64(clockOffset),
];

const optionalTime = (ms: number | undefined) => (ms === undefined ? undefined : int64(ms));
