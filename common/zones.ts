const DAY_MS = 86_400_000;

/** In ms. No zone has ever been farther from UTC. */
const MAX_OFFSET_MS = 16 * 3_600_000;

/** In ms. Local times beyond this have no `Date` in some zone. */
const MAX_LOCAL_MS = 8.64e15 - 2 * DAY_MS;

const MAX_DAYS = 20_000;

/** Before and after the change of a day in UTC, which is an instant in epoch ms. */
type Day = { before: number; after: number; changesAt: number };

/** In the tz database, such as `Europe/Berlin`. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * The instants at which clocks of the zone show a local time. An hour that comes twice has two. An hour that clocks skip has none.
 * @param local local time, read as if it were UTC, in epoch ms
 * @returns 0, 1 or 2 instants in epoch ms, in order
 */
export function candidates(local: number, zone: string): number[] {
  if (!(Math.abs(local) < MAX_LOCAL_MS)) return [local];
  return offsetsAround(local, zone)
    .filter((offset) => offsetOf(local - offset, zone) === offset)
    .map((offset) => local - offset)
    .sort((a, b) => a - b);
}

/**
 * The instant nearest to `near` that a local time may mean. A local time that clocks skip may mean two instants: by the
 * offset before the change, which a clock shows that changes late, and by the offset after it.
 * @param local as in `candidates`
 */
export function instantNear(local: number, zone: string, near: number): number {
  const shown = candidates(local, zone);
  const instants = shown.length > 0 ? shown : offsetsAround(local, zone).map((offset) => local - offset);
  return instants.reduce((best, each) => (Math.abs(each - near) < Math.abs(best - near) ? each : best));
}

/**
 * The first instant at which clocks show a local time. For a local time that clocks skip, the instant by the offset before the change.
 * @param local as in `candidates`
 */
export const startOfLocal = (local: number, zone: string): number =>
  candidates(local, zone)[0] ?? local - Math.min(...offsetsAround(local, zone));

/** At the instants that the local time may mean. */
function offsetsAround(local: number, zone: string): number[] {
  const offsets: Set<number> = new Set();
  const last = Math.floor((local + MAX_OFFSET_MS) / DAY_MS);
  for (let day = Math.floor((local - MAX_OFFSET_MS) / DAY_MS); day <= last; day++) {
    const { before, after } = dayOf(day, zone);
    offsets.add(before).add(after);
  }
  return [...offsets];
}

/** In ms ahead of UTC. */
export function offsetOf(time: number, zone: string): number {
  const { before, after, changesAt } = dayOf(Math.floor(time / DAY_MS), zone);
  return time < changesAt ? before : after;
}

const formats: Map<string, Intl.DateTimeFormat> = new Map();

const days: Map<string, Day> = new Map();

function dayOf(number: number, zone: string): Day {
  const key = `${number} ${zone}`;
  let day = days.get(key);
  if (!day) {
    if (days.size === MAX_DAYS) days.clear();
    day = findChange(number * DAY_MS, (number + 1) * DAY_MS, zone);
    days.set(key, day);
  }
  return day;
}

function findChange(from: number, to: number, zone: string): Day {
  const before = formattedOffset(from, zone);
  const after = formattedOffset(to, zone);
  let [low, high] = [from, to];
  while (before !== after && high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (formattedOffset(middle, zone) === before) low = middle;
    else high = middle;
  }
  return { before, after, changesAt: high };
}

/** @param time in whole seconds */
function formattedOffset(time: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - time;
}
