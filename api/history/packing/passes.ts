import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import type { Series } from '../../../schema/packed/series.ts';
import { DAY_MS, isExact, MIN_BATCH_DAYS, PURGE_DAYS } from '../../../schema/rules.ts';
import { iteratePages, type Steps } from '../../background/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import type { Store } from '../../store/index.ts';
import { readDeviceHour } from './pack-device-hour.ts';
import type { PackingObserver, SensorPacker } from './pack-sensor-hour.ts';
import { type OnPacked, PackedReport } from './packed-report.ts';

/** Enough to hide the round trips in a data center. */
const DEVICES_AT_ONCE = 4;
const SENSORS_AT_ONCE = 2;

/** To another data center they take some 80 ms. */
const TIMES_IF_FAR = 8;

const atOnce = (count: number, { isFar }: PassDeps['store']) => (isFar() ? TIMES_IF_FAR * count : count);

/** In ms. Rows of `message` may have expired, and samples exist only in rows of history that an interrupted packing has left. */
const MAY_HAVE_EXPIRED_MS = (MIN_BATCH_DAYS - 1) * DAY_MS;

/** Packs an hour of a whole group of devices after the hour has closed. */
export function createFirstPass({ store, clock, steps, sensors, observer, listeners }: PassDeps) {
  async function packDevice(group: number, device: DeviceBytes, hour: number, report: PackedReport | null) {
    const readFrom = await clock.now();
    const packed: Set<string> = new Set();
    const written: SensorBytes[] = [];
    let unreadable = 0;
    for await (const found of readDeviceHour({ store, steps, observer, device, hour })) {
      unreadable += found.unreadable;
      await forEachConcurrently(SENSORS_AT_ONCE, found.sensors, async ([id, { sensor, ...series }]) => {
        if (await sensors.pack({ device, sensor, hour }, series, readFrom, found.unreadable))
          written.push(sensor);
        packed.add(id);
      });
    }
    // An unreadable or expired row may belong to any sensor of the device, so all other sensors are packed too.
    if (unreadable > 0 || readFrom - hour >= MAY_HAVE_EXPIRED_MS) {
      for (const sensor of await steps.run(() => store.sensorIds(group, device))) {
        if (packed.has(sensor.toString('hex'))) continue;
        if (await sensors.pack({ device, sensor, hour }, NOTHING, readFrom, unreadable)) written.push(sensor);
      }
    }
    await report?.add(device, hour, written);
  }

  return {
    /** @param hour has closed, so that samples of it that arrive now are late samples */
    packHour: (group: number, hour: number): Promise<void> =>
      reported(listeners, group, (report) =>
        forEachConcurrently(
          atOnce(DEVICES_AT_ONCE, store),
          iteratePages((after) => steps.run(() => store.devicePage(group, after))),
          (device) => packDevice(group, device, hour, report),
        ),
      ),
  };
}

interface PassDeps {
  store: Store['packing'];
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  sensors: SensorPacker;
  observer: PackingObserver;
  /** of packed hours; without one nothing is collected */
  listeners: OnPacked[];
}

async function reported(
  listeners: OnPacked[],
  group: number,
  pack: (report: PackedReport | null) => Promise<void>,
) {
  const report = listeners.length === 0 ? null : new PackedReport(listeners, group);
  await pack(report);
  await report?.send();
}

const NOTHING: Series = { times: [], values: [] };

const CHECKED_AT_ONCE = 8;

/** Checks a whole UTC day of a sensor with one request. Nearly always the answer shows that no hour has to be packed again. */
export function createSecondPass({ store, clock, steps, sensors, observer, listeners }: PassDeps) {
  /**
   * Copies only if all statistics of the day are exact.
   * @param since epoch ms: hours that got a mark since then are returned too
   * @returns the other hours
   */
  async function copyDay(
    device: DeviceBytes,
    sensor: SensorBytes,
    day: number,
    since: number = Number.POSITIVE_INFINITY,
  ): Promise<number[]> {
    const readAt = await clock.now();
    const rows = await steps.run(() => store.readStatistics({ device, sensor }, day, day + DAY_MS));
    const inexact = rows
      .filter((row) => !isExact(row) || Number(row.lateAt ?? Number.NEGATIVE_INFINITY) >= since)
      .map(({ hour }) => hour);
    const hours = rows.flatMap(({ hour, statistics, readFrom }) =>
      statistics && readFrom !== null ? { hour, statistics, readFrom } : [],
    );
    if (inexact.length === 0 && hours.length > 0)
      await steps.run(() => store.writeDay({ device, sensor }, day, hours, readAt));
    return inexact;
  }

  /** Corrected samples of a sensor that was retired meanwhile are deleted as well. */
  async function sensorsOf(group: number, device: DeviceBytes, since: number | undefined) {
    const registered = await steps.run(() => store.sensorIds(group, device));
    if (since === undefined) return registered;
    const range = { from: since, to: since + (PURGE_DAYS + 1) * DAY_MS };
    const corrected = await steps.run(() => store.corrections.sensors(device, range));
    const known = new Set(registered.map((sensor) => sensor.toString('hex')));
    return [...registered, ...corrected.filter((sensor) => !known.has(sensor.toString('hex')))];
  }

  /** @returns sensors whose statistics are not exact, by hour and by the id in hex */
  async function findInexact(
    group: number,
    device: DeviceBytes,
    day: number,
    since: number | undefined,
  ): Promise<Map<number, Map<string, Buffer>>> {
    const hours: Map<number, Map<string, Buffer>> = new Map();
    for (const sensor of await sensorsOf(group, device, since)) {
      for (const hour of await copyDay(device, sensor, day, since)) {
        const inexact = hours.get(hour) ?? new Map();
        hours.set(hour, inexact.set(sensor.toString('hex'), sensor));
      }
    }
    return hours;
  }

  /** Each hour of the device is read once for all of its sensors. */
  async function settleDevice(
    group: number,
    device: DeviceBytes,
    day: number,
    { report, since }: { report: PackedReport | null; since?: number | undefined },
  ) {
    const found = await findInexact(group, device, day, since);
    const packed = new Map([...found.values()].flatMap((sensors) => [...sensors]));
    for (const [hour, inexact] of found) {
      const readFrom = await clock.now();
      let unreadable = 0;
      const written: SensorBytes[] = [];
      for await (const gathered of readDeviceHour({ store, steps, observer, device, hour })) {
        unreadable += gathered.unreadable;
        for (const [id, { sensor, ...series }] of gathered.sensors) {
          if (!inexact.delete(id)) continue;
          if (await sensors.pack({ device, sensor, hour }, series, readFrom, gathered.unreadable))
            written.push(sensor);
        }
      }
      for (const sensor of inexact.values()) {
        if (await sensors.pack({ device, sensor, hour }, NOTHING, readFrom, unreadable)) written.push(sensor);
      }
      await report?.add(device, hour, written);
    }
    for (const sensor of packed.values()) await copyDay(device, sensor, day);
  }

  return {
    /** The statistics then include all late samples that arrived before the call. @param day the first pass has packed it */
    settleDay: (group: number, day: number): Promise<void> =>
      reported(listeners, group, (report) =>
        forEachConcurrently(
          atOnce(CHECKED_AT_ONCE, store),
          iteratePages((after) => steps.run(() => store.devicePage(group, after))),
          (device) => settleDevice(group, device, day, { report }),
        ),
      ),

    /** Packs the late samples that arrived in a closed hour, for days of any age, and hours that were corrected long ago. */
    settleNoticed: (group: number, noticed: number): Promise<void> =>
      reported(listeners, group, (report) =>
        forEachConcurrently(
          atOnce(CHECKED_AT_ONCE, store),
          iteratePages((after) => steps.run(() => store.lateDayPage(group, noticed, after))),
          ({ device, day, corrected }) =>
            settleDevice(group, device, day, {
              report,
              since: corrected ? markedSince(noticed) : undefined,
            }),
        ),
      ),
  };
}

/** A large correction may take hours from its first mark to its note. */
const markedSince = (noticed: number) => noticed - (PURGE_DAYS + 1) * DAY_MS;
