import { type DeviceBytes, uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { PART } from '../../../../schema/migrate/installation.ts';
import { createLeaseStore, int64 } from '../../../store/index.ts';
import type { Session } from '../../../store/sending/session.ts';

const DUE = 'INSERT INTO alarm_due (grp, noticed, device_id, day) VALUES (?, ?, ?, ?)';
const SELECT_DUE = {
  name: 'read_alarm_due',
  cql: 'SELECT device_id, day FROM alarm_due WHERE grp = ? AND noticed = ?',
};
const SEEN = {
  name: 'read_alarm_devices',
  cql: 'SELECT device_id, last_seen FROM device WHERE grp = ?',
  fetchSize: 2000,
};
const WRITE = {
  name: 'write_alarm_progress',
  cql: 'INSERT INTO alarm_progress (part, process, run, evaluated_until) VALUES (?, ?, ?, ?)',
};
const REMOVE = {
  name: 'remove_alarm_progress',
  cql: 'DELETE FROM alarm_progress WHERE part = ? AND process = ? AND run = ?',
};
const ALL = {
  name: 'read_alarm_progress',
  cql: 'SELECT process, run, evaluated_until FROM alarm_progress WHERE part = ?',
};

/** Version 28 of the schema came with the version of Millrace that first opened alarms for sensors that never sent. */
const UNSENT_FROM = {
  name: 'read_unsent_from',
  cql: 'SELECT applied_at FROM schema_version WHERE part = ? AND version = 28',
};

/** Seconds until the lease of a dead process expires. */
export const ALARM_LEASE_SECONDS = 15;

/** `run`: UUID that a process creates at each start */
export type EvaluationProgress = { process: string; run: string; evaluatedUntil: number };

/**
 * If a process dies, another process reads here which committed samples of the dead process were not evaluated.
 * @param everywhere asks each data center: a process of another one is not dead because the link to it is cut
 */
export function createAlarmProgress(session: Session, everywhere: Session = session) {
  return {
    ...createLeaseStore(session, 'alarm_lease', ALARM_LEASE_SECONDS),

    write: ({ process, run, evaluatedUntil }: EvaluationProgress) =>
      session.write(WRITE, [PART, process, uuidBytes(run), int64(evaluatedUntil)]),

    /** For a process that ended normally, or whose samples are all evaluated. */
    remove: ({ process, run }: Pick<EvaluationProgress, 'process' | 'run'>) =>
      session.write(REMOVE, [PART, process, uuidBytes(run)]),

    /**
     * Finds from when a sensor that never sent may open an alarm, in epoch ms of its registration. An upgrade
     * would otherwise open an alarm for each old sensor.
     */
    async unsentFrom(): Promise<number> {
      return (await session.one(UNSENT_FROM, [PART]))?.['applied_at'].getTime() ?? 0;
    },

    async all(): Promise<EvaluationProgress[]> {
      const rows = await everywhere.all(ALL, [PART]);
      return rows.map((row) => ({
        process: row['process'],
        run: uuidText(row['run'].getBuffer()),
        evaluatedUntil: row['evaluated_until'].getTime(),
      }));
    },

    /**
     * Stores that days of a device got late samples and must be evaluated again.
     * @param noticed epoch ms of the hour in which the late samples arrived
     */
    async noteDue({ bytes, group }: { bytes: DeviceBytes; group: number }, noticed: number, days: number[]) {
      await session.writeBatch(
        'write_alarm_due',
        days.map((day) => ({ query: DUE, params: [group, int64(noticed), bytes, int64(day)] })),
      );
    },

    /** @param noticed epoch ms of the hour in which the late samples arrived */
    async due(group: number, noticed: number): Promise<Array<{ device: DeviceBytes; day: number }>> {
      const rows = await session.all(SELECT_DUE, [group, int64(noticed)]);
      return rows.map((row) => ({ device: row['device_id'].getBuffer(), day: row['day'].getTime() }));
    },

    async seenSince(group: number, since: number): Promise<DeviceBytes[]> {
      const devices: DeviceBytes[] = [];
      for await (const rows of session.pages(SEEN, [group])) {
        for (const row of rows)
          if (row['last_seen']?.getTime() >= since) devices.push(row['device_id'].getBuffer());
      }
      return devices;
    },
  };
}

export type AlarmProgress = ReturnType<typeof createAlarmProgress>;
