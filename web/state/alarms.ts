import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import { createLimit } from '../api/client.ts';
import { nullIfMissing } from '../api/request.ts';
import type { Alarm, WantedAlarmRule } from '../api/types.ts';
import { formatCount } from '../format.ts';
import { useQuery, useServices } from './hooks.ts';
import { missingBefore } from './lists.ts';

/** Maximum number of open alarms that the page reads, the newest first. */
export const MOST_OPEN = 1000;

/** Interval in ms of rereading the alarms. The event stream reports changes, but a message may be lost. */
const REFRESH = { refreshMs: 15_000 };

const NONE: Alarm[] = [];
const NOTHING_READ = { alarms: NONE, missing: null };

/** Open alarms, newest first. `isCut`: older alarms are open, too */
export type OpenAlarms = { alarms: readonly Alarm[]; isCut: boolean };

/** @returns whether at least one alarm is known to be open */
export const hasOpen = (open: OpenAlarms | null): open is OpenAlarms =>
  open !== null && (open.alarms.length > 0 || open.isCut);

/**
 * @param count number of open alarms that the page read
 * @returns `12`, or `12+` if more alarms may be open
 */
export const openCountText = (count: number, { isCut }: Pick<OpenAlarms, 'isCut'>): string =>
  `${formatCount(count)}${isCut ? '+' : ''}`;

/** Calls `reload` at each change of an alarm. */
function useReloads(reload: () => void) {
  const { live } = useServices();
  const changes = live.alarmChanges.value;
  const seen = useRef(changes);
  useEffect(() => {
    if (seen.current === changes) return;
    seen.current = changes;
    reload();
  }, [changes, reload]);
}

/**
 * Keeps the open alarms of the installation up to date. The header calls this hook, because the header is on every page.
 *
 * @returns null: the alarms are not known yet
 */
export function useOpenAlarms(): OpenAlarms | null {
  const { client, live } = useServices();
  const { data, reload } = useQuery(
    'open-alarms',
    async (signal): Promise<OpenAlarms> => {
      const { items, next } = await client.alarms({ state: 'open', limit: MOST_OPEN }, signal);
      return { alarms: items, isCut: next !== null };
    },
    REFRESH,
  );
  useReloads(reload);
  useEffect(() => {
    live.openAlarms.value = data;
  }, [live, data]);
  return data;
}

/** @returns the open alarms that are not shelved; null: not known yet */
export function useActiveAlarms(): OpenAlarms | null {
  const { live, clock } = useServices();
  const open = live.openAlarms.value;
  return open && { ...open, alarms: open.alarms.filter((alarm) => !isShelved(alarm, clock.now())) };
}

/**
 * @param device id of the device
 * @returns open alarms of the device that are not shelved
 */
export function useAlarmsOf(device: string): OpenAlarms {
  const { alarms, isCut } = useActiveAlarms() ?? { alarms: NONE, isCut: false };
  return { alarms: alarms.filter(({ device_id }) => device_id === device), isCut };
}

/**
 * @param now current time in epoch ms
 * @returns whether the alarm is shelved at that time
 */
export const isShelved = ({ shelved_until }: Alarm, now: number) =>
  shelved_until !== null && Date.parse(shelved_until) > now;

export function useAlarms({
  state,
  severity,
  cursor,
  limit,
}: {
  state: string;
  severity: string | null;
  cursor: string | null;
  limit: number;
}) {
  const { client } = useServices();
  const answer = useQuery(
    `alarms ${state} ${severity} ${cursor}`,
    (signal) => client.alarms({ state, severity, cursor, limit }, signal),
    REFRESH,
  );
  useReloads(answer.reload);
  return answer;
}

/** Maximum number of alarms read for one sensor, the newest first. */
const MOST_OF_SENSOR = 200;

/**
 * Reads the alarms of one sensor.
 *
 * @param sensor null: the sensor is not known yet
 * @returns alarms, newest first; `missing`: time in epoch ms; alarms that began before it may not have been read; null: all
 *   alarms were read
 */
export function useSensorAlarms(sensor: { device_id: string; sensor_id: string } | null): {
  alarms: Alarm[];
  missing: number | null;
} {
  const { client } = useServices();
  const { data, reload } = useQuery(
    `alarms of ${sensor?.device_id}/${sensor?.sensor_id}`,
    async (signal) => {
      if (sensor === null) return NOTHING_READ;
      const query = { device: sensor.device_id, sensor: sensor.sensor_id, limit: MOST_OF_SENSOR };
      const page = await client.alarms(query, signal);
      return { alarms: page.items, missing: missingBefore([page], ({ started_at }) => started_at) };
    },
    REFRESH,
  );
  useReloads(reload);
  return data ?? NOTHING_READ;
}

type Scope = WantedAlarmRule['scope'];

/** The unit of the sensors in a scope. `isMixed`: the sensors send different units */
export type ScopeUnit = { unit: string | null; isMixed: boolean };

export const scopeKey = ({ device, sensor, type, site }: Scope): string =>
  JSON.stringify([device ?? '', sensor ?? '', type ?? '', site ?? '']);

/** Maximum number of sensors of a scope whose units are read. */
const MOST_READ = 200;
/** Maximum number of concurrent reads of scopes. A browser opens at most six connections to a host, for all tabs together. */
const AT_ONCE = 3;

/**
 * Reads the unit of the sensors in a scope.
 *
 * @returns null: the scope has no sensors
 */
async function unitOfScope(
  client: Client,
  { device, sensor, type, site }: Scope,
  signal: AbortSignal,
): Promise<ScopeUnit | null> {
  const found =
    device && sensor
      ? [await client.sensor(device, sensor, signal)]
      : (await client.latest({ device, type, site, limit: MOST_READ }, signal)).items;
  const units = [...new Set(found.map(({ unit }) => unit))];
  return units.length === 0 ? null : { unit: units[0] ?? null, isMixed: units.length > 1 };
}

/**
 * Reads the units in which limits and peaks are stored. Each scope is read once.
 *
 * @returns `units`: unit by `scopeKey`; scopes that have no sensors, or are not read yet, are missing
 */
export function useScopeUnits(scopes: Scope[]): { units: ReadonlyMap<string, ScopeUnit>; loading: boolean } {
  const { client } = useServices();
  const known = useRef<Map<string, ScopeUnit>>(new Map());
  const wanted = new Map(scopes.map((scope) => [scopeKey(scope), scope]));
  const { loading } = useQuery(`units of ${[...wanted.keys()].sort().join(' ')}`, async (signal) => {
    const limit = createLimit(AT_ONCE);
    const missing = [...wanted].filter(([key]) => !known.current.has(key));
    await Promise.all(
      missing.map(async ([key, scope]) => {
        const unit = await limit.run(() => unitOfScope(client, scope, signal).catch(nullIfMissing), signal);
        if (unit) known.current.set(key, unit);
      }),
    );
  });
  return { units: known.current, loading };
}

/**
 * Finds new alarms by comparing each list of open alarms with the previous list.
 *
 * @returns a function of the open alarms (null: unknown yet) and the time (epoch ms). The function returns the newest alarm
 *   that is not in the previous list, and is neither acknowledged nor shelved. The alarms of the first list are not new. If the
 *   list is cut, an older alarm that moves up into it is not new either.
 */
export function createAlarmNews(): (open: OpenAlarms | null, now: number) => Alarm | undefined {
  let known: { ids: Set<string>; oldest: string } | null = null;
  return (open, now) => {
    if (!open) return undefined;
    const before = known;
    const oldest = open.isCut ? (open.alarms.at(-1)?.started_at ?? '') : '';
    known = { ids: new Set(open.alarms.map(({ alarm_id }) => alarm_id)), oldest };
    return open.alarms.find(
      (alarm) =>
        before &&
        !before.ids.has(alarm.alarm_id) &&
        alarm.started_at > before.oldest &&
        alarm.acknowledged_at === null &&
        !isShelved(alarm, now),
    );
  };
}

/**
 * Signals alarms that open while the page is open.
 *
 * @param open null: the open alarms are not known yet
 */
export function useAlarmNotifications(open: OpenAlarms | null) {
  const { preferences, clock } = useServices();
  const [newsAmong] = useState(createAlarmNews);
  useEffect(() => {
    const newest = newsAmong(open, clock.now());
    if (!newest) return;
    const { sound, notification } = preferences.choice.peek().signals;
    if (sound) beep();
    if (!notification) return;
    const body = `${newest.device ?? newest.device_id} · ${newest.sensor ?? newest.sensor_id}`;
    showNotification(newest.rule, { body, tag: newest.alarm_id });
  }, [open, clock, newsAmong, preferences]);
}

/**
 * Shows a notification of the operating system.
 *
 * @returns false: the user does not allow notifications, or the browser cannot show notifications. Browsers on Android throw,
 *   because only a service worker may show notifications there.
 */
export function showNotification(title: string, options: NotificationOptions): boolean {
  if (globalThis.Notification?.permission !== 'granted') return false;
  try {
    new Notification(title, options);
    return true;
  } catch {
    return false;
  }
}

/** The signal tone: frequency in Hz, length in seconds, loudness from 0 to 1. */
const TONE = { frequency: 880, seconds: 0.25, gain: 0.1 };

function beep() {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.value = TONE.gain;
  tone.frequency.value = TONE.frequency;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + TONE.seconds);
  tone.onended = () => void audio.close();
}
