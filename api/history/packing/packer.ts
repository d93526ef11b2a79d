import { closingOf, DAY_MS, dayOf, HOUR_MS, settlingOf } from '../../../schema/rules.ts';
import type { Leases, Steps } from '../../background/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import type { PackProgress } from '../../store/history/progress.ts';
import type { Store } from '../../store/index.ts';
import type { Behind } from './index.ts';
import { createSensorPacker, type PackingObserver } from './pack-sensor-hour.ts';
import type { OnPacked } from './packed-report.ts';
import { createFirstPass, createSecondPass } from './passes.ts';

/** First packs every closed hour, then again the hours of every day for which no more late samples are expected. */
export function createPacker({
  store,
  groups,
  clock,
  steps,
  leases,
  behind,
  observer,
  listeners = [],
}: {
  store: Pick<Store, 'packing' | 'packProgress'>;
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  leases: Leases;
  behind: Behind;
  observer: PackingObserver & { onHour: (seconds: number) => void };
  /** default: nobody listens */
  listeners?: OnPacked[];
}) {
  const { packing, packProgress: progress } = store;
  const sensors = createSensorPacker({ store: packing, steps, observer });
  const firstPass = createFirstPass({ store: packing, clock, steps, sensors, observer, listeners });
  const secondPass = createSecondPass({ store: packing, clock, steps, sensors, observer, listeners });

  async function read(group: number): Promise<PackProgress> {
    const found = await steps.run(() => progress.read(group));
    behind.note(group, found.packedUntil);
    return found;
  }

  async function packHour(group: number, hour: number) {
    const began = performance.now();
    await firstPass.packHour(group, hour);
    const until = hour + HOUR_MS;
    await steps.run(() => progress.writePacked(group, until));
    behind.note(group, until);
    observer.onHour((performance.now() - began) / 1000);
    return until;
  }

  async function settleDay(group: number, day: number) {
    await secondPass.settleDay(group, day);
    const until = day + DAY_MS;
    await steps.run(() => progress.writeSettled(group, until));
    return until;
  }

  async function settleNoticed(group: number, hour: number) {
    await secondPass.settleNoticed(group, hour);
    const until = hour + HOUR_MS;
    await steps.run(() => progress.writeNoticed(group, until));
    return until;
  }

  async function packGroup(group: number) {
    // Progress is read again, because the previous owner of the lease may have packed everything.
    let { packedUntil, settledUntil, noticedUntil } = await read(group);
    while (isHourDue(packedUntil, await clock.now())) packedUntil = await packHour(group, packedUntil);
    while (isDayDue({ packedUntil, settledUntil }, await clock.now())) {
      settledUntil = await settleDay(group, dayOf(settledUntil));
    }
    // Late samples are packed only when the hour in which they arrived has closed. So all new statistics are younger
    // than these samples, by more than the margin for clocks.
    while (isHourDue(noticedUntil, await clock.now()))
      noticedUntil = await settleNoticed(group, noticedUntil);
  }

  async function packIfDue(group: number) {
    const found = await read(group);
    const now = await clock.now();
    const isHour = isHourDue(found.packedUntil, now) || isHourDue(found.noticedUntil, now);
    if (!isHour && !isDayDue(found, now)) return;
    await leases.hold(group, () => packGroup(group));
  }

  return {
    /** Leaves out groups of other processes. @throws the error of the first group that failed, after the other groups were packed */
    async packDue(): Promise<void> {
      const failures: unknown[] = [];
      for (const group of shuffled(groups)) {
        await packIfDue(group).catch((error) => failures.push(error));
        if (steps.stopped) return;
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

const isHourDue = (hour: number, now: number) => now >= closingOf(hour);

function isDayDue(
  { packedUntil, settledUntil }: Pick<PackProgress, 'packedUntil' | 'settledUntil'>,
  now: number,
) {
  const day = dayOf(settledUntil);
  return packedUntil >= day + DAY_MS && now >= settlingOf(day);
}

/** So processes that start at the same moment begin with different groups. */
const shuffled = (groups: number): number[] =>
  Array.from({ length: groups }, (_, group) => ({ group, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ group }) => group);
