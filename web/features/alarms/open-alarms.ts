import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import type { Services } from '../../state/hooks.ts';
import { useKept, useQuery, useServices } from '../../state/hooks.ts';
import { useEvents } from '../../state/live.ts';
import { createStored, membersOf, recall } from '../../state/preferences.ts';
import type { Alarm } from './api.ts';
import { readAlarms } from './api.ts';

/** Maximum number of open alarms that the page reads, the newest first. */
export const MOST_OPEN = 1000;

/** Interval in ms of rereading the alarms. The event stream reports changes, but a message may be lost. */
export const REFRESH = { refreshMs: 15_000 };

const NONE: Alarm[] = [];

/** The kind of message of the event stream that reports a change of an alarm. */
export const ALARM_EVENT = 'alarm';

/** Open alarms, newest first. `isCut`: older alarms are open, too */
export type OpenAlarms = { alarms: readonly Alarm[]; isCut: boolean };

/** The open alarms; null: unknown yet. The header keeps the alarms up to date. */
const createOpenAlarms = (): Signal<OpenAlarms | null> => signal<OpenAlarms | null>(null);

/** @returns whether at least one alarm is known to be open */
export const hasOpen = (open: OpenAlarms | null): open is OpenAlarms =>
  open !== null && (open.alarms.length > 0 || open.isCut);

/** @param count number of open alarms that the page read @returns `12`, or `12+` if more alarms may be open */
export const openCountText = (count: number, { isCut }: Pick<OpenAlarms, 'isCut'>): string =>
  `${formatCount(count)}${isCut ? '+' : ''}`;

/** Calls `reload` at each change of an alarm. */
export const useReloads = (reload: () => void) => useEvents(ALARM_EVENT, reload);

/**
 * Keeps the open alarms of the installation up to date. The header calls this hook, because the header is on every page.
 *
 * @returns null: the alarms are not known yet
 */
export function useOpenAlarms(): OpenAlarms | null {
  const { client } = useServices();
  const openAlarms = useKept(createOpenAlarms);
  const { data, reload } = useQuery(
    'open-alarms',
    async (signal): Promise<OpenAlarms> => {
      const { items, next } = await readAlarms(client, { state: 'open', limit: MOST_OPEN }, signal);
      return { alarms: items, isCut: next !== null };
    },
    REFRESH,
  );
  useReloads(reload);
  useEffect(() => {
    openAlarms.value = data;
  }, [openAlarms, data]);
  return data;
}

/** @returns the open alarms that are not shelved; null: not known yet */
export function useActiveAlarms(): OpenAlarms | null {
  const { clock } = useServices();
  const open = useKept(createOpenAlarms).value;
  return open && { ...open, alarms: open.alarms.filter((alarm) => !isShelved(alarm, clock.now())) };
}

/** @returns open alarms of the device that are not shelved */
export function useAlarmsOf(device: string): OpenAlarms {
  const { alarms, isCut } = useActiveAlarms() ?? { alarms: NONE, isCut: false };
  return { alarms: alarms.filter(({ device_id }) => device_id === device), isCut };
}

/** @returns whether the alarm is shelved at that time */
export const isShelved = ({ shelved_until }: Alarm, now: number) =>
  shelved_until !== null && Date.parse(shelved_until) > now;

const SIGNALS_KEY = 'millrace.alarm-signals';
const NAME_KEY = 'millrace.name';

/** `signals`: how this browser signals a new alarm; `name`: the name with which the user acknowledges alarms */
type AlarmSettings = { signals: { sound: boolean; notification: boolean }; name: string };

/** Creates the settings of a user for alarms, stored in this browser. Other tabs change them, too. */
export const createAlarmSettings = ({ storage, tabs }: Pick<Services, 'storage' | 'tabs'>) =>
  createStored<AlarmSettings>({
    storage: storage.browser,
    tabs,
    keys: [SIGNALS_KEY, NAME_KEY],
    read(kept) {
      const { sound, notification } = membersOf(recall(kept, SIGNALS_KEY));
      return {
        signals: { sound: sound === true, notification: notification === true },
        name: String(recall(kept, NAME_KEY) ?? ''),
      };
    },
    write: ({ signals, name }) => ({ [SIGNALS_KEY]: signals, [NAME_KEY]: name }),
  });

export const useAlarmSettings = () => useKept(createAlarmSettings);

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

/** Signals alarms that open while the page is open. @param open null: the open alarms are not known yet */
export function useAlarmNotifications(open: OpenAlarms | null) {
  const { clock } = useServices();
  const settings = useAlarmSettings();
  const [newsAmong] = useState(createAlarmNews);
  useEffect(() => {
    const newest = newsAmong(open, clock.now());
    if (!newest) return;
    const { sound, notification } = settings.choice.peek().signals;
    if (sound) beep();
    if (!notification) return;
    const body = `${newest.device ?? newest.device_id} · ${newest.sensor ?? newest.sensor_id}`;
    showNotification(newest.rule, { body, tag: newest.alarm_id });
  }, [open, clock, newsAmong, settings]);
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
