import type { Zone } from '../../format.ts';
import {
  decimalsFor,
  formatCount,
  formatCounted,
  formatNumber,
  formatTime,
  formatZone,
} from '../../format.ts';
import { CompareButton } from '../../kit/controls.tsx';
import { DeviceState } from '../../kit/device-title.tsx';
import { OtherZone } from '../../kit/figure.tsx';
import { ListSwitch } from '../../kit/list-controls.tsx';
import { ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { deviceHref, itemHref } from '../../routes.ts';
import { deviceCount } from '../../state/fleet-state.ts';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import '../../kit/tables.css';
import type { Client } from '../../api/client.ts';
import { createLimit, withLimit } from '../../api/client.ts';
import type { DeviceEvent, DeviceItem, LatestItem } from '../../api/types.ts';
import { createReader } from '../../chart/reader.ts';
import type { Shape } from '../../chart/shape.ts';
import { keyOf, useFiguresAlone } from '../../state/live.ts';
import type { Stale } from '../../state/verdict.ts';
import { useStale } from '../../state/verdict.ts';
import type { UnitChoices } from '../../units.ts';
import { scaleFor, shownText, toShown } from '../../units.ts';

/** Renders the changes of the last hour: sensors whose values left their usual range or returned, and devices that came or went. */
export function ChangesView() {
  const { data, problem, slow, reload } = useFleetChanges();
  const stale = useStale();
  useTitle('Changes');
  return (
    <>
      <div class="title">
        <h1>What changed in the last hour</h1>
      </div>
      <section class="panel" aria-label="Changes" aria-busy={data === null}>
        <div class="list-head">
          <ListSwitch shown="changes" />
        </div>
        {slow && <SlowLine />}
        {problem && <ProblemNotice problem={problem} onRetry={reload} />}
        {!problem && data === null && (
          <div class="changes">
            <p class="none" role="status">
              Reading the last six hours…
            </p>
          </div>
        )}
        {data && (
          <div class="changes">
            <Sensors
              sensors={data.sensors}
              read={data.sensorsRead}
              unjudged={data.unjudged}
              total={data.sensorsTotal}
              stale={stale}
            />
            <Devices devices={data.devices} read={data.devicesRead} total={data.devicesTotal} stale={stale} />
          </div>
        )}
      </section>
    </>
  );
}

function Sensors({
  sensors,
  read,
  unjudged,
  total,
  stale,
}: {
  sensors: ChangedSensor[];
  read: number;
  /** number of sensors that were read but have too little history to be judged */
  unjudged: number;
  total: number;
  /** the reason why the values are old; null: values arrive */
  stale: Stale | null;
}) {
  const { preferences } = useServices();
  const { zone, units } = preferences.choice.value;
  return (
    <div>
      <h2>Values that left their range or returned</h2>
      <p class="changes-note">
        The range is that of the five hours before, in averages of five minutes.{' '}
        <PartRead read={read} what="sensor" total={total} />
        {unjudged > 0 && ` ${formatCounted(unjudged, 'sensor has', 'sensors have')} too little history.`}
      </p>
      {sensors.length === 0 ? (
        <p class="none">
          {unchangedText(read, unjudged)}
          {untilText(stale, zone)}
        </p>
      ) : (
        <table class="plain">
          <caption class="visually-hidden">Sensors whose values left their range or returned</caption>
          <thead>
            <tr>
              <th scope="col">Sensor</th>
              <th scope="col">Change</th>
              <th scope="col">Range</th>
              <th scope="col" class="changes-time">
                Last at {formatZone(zone, Date.now())}
              </th>
              <th scope="col" class="col-compare">
                <span class="visually-hidden">Compare</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sensors.map(({ item, change }) => (
              <tr key={keyOf(item)}>
                <th scope="row">
                  <a class="link" href={`${itemHref(item)}?range=6h`}>
                    {item.name ?? item.sensor_id}
                  </a>{' '}
                  <span class="quiet">{item.device ?? item.device_id}</span>
                </th>
                <td class="wraps">{changeText({ item, change }, units)}</td>
                <td>{rangeText({ item, change }, units)}</td>
                <td>
                  {formatTime(change.at, zone)}
                  <OtherZone ts={change.at} />
                </td>
                <td>
                  <CompareButton item={item} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** Returns the time of the values as text while nothing is stored, because later changes are unknown. */
const untilText = (stale: Stale | null, zone: Zone): string =>
  stale ? ` Values are those of ${formatTime(stale.since, zone)}.` : '';

function unchangedText(read: number, unjudged: number): string {
  if (unjudged === read) return 'No sensor has a range yet.';
  return unjudged > 0 ? 'All others stayed in their range.' : 'All of them stayed in their range.';
}

function changeText({ item, change }: ChangedSensor, choices: UnitChoices): string {
  const { crossings, isOut, farthest } = change;
  const scale = scaleOf({ item, change }, choices);
  const value = shownText(scale, toShown(scale, farthest));
  if (crossings === 1) return `Left it, as far as ${value}`;
  return `${isOut ? 'Out of it now' : 'Back in it'}, ${formatCounted(crossings, 'change')}, as far as ${value}`;
}

function rangeText(changed: ChangedSensor, choices: UnitChoices): string {
  const scale = scaleOf(changed, choices);
  const [low, high] = [toShown(scale, changed.change.low), toShown(scale, changed.change.high)];
  if (scale.timeMs !== null) return `${shownText(scale, low)} to ${shownText(scale, high)}`;
  const decimals = decimalsFor([low, high]);
  return `${formatNumber(low, decimals)} to ${formatNumber(high, decimals)} ${scale.unit}`.trim();
}

/** Returns the common scale of value and range in a row. */
const scaleOf = ({ item, change: { low, high, farthest } }: ChangedSensor, choices: UnitChoices) =>
  scaleFor(item.unit, [low, high, farthest], choices);

function Devices({
  devices,
  read,
  total,
  stale,
}: {
  devices: ChangedDevice[];
  read: number;
  total: number;
  /** the reason why the values are old; null: values arrive */
  stale: Stale | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <div>
      <h2>Devices that came or went</h2>
      <p class="changes-note">
        <PartRead read={read} what="device" total={total} />
      </p>
      {devices.length === 0 ? (
        <p class="none">None came or went.{untilText(stale, zone)}</p>
      ) : (
        <table class="plain">
          <caption class="visually-hidden">Devices that came or went</caption>
          <thead>
            <tr>
              <th scope="col">Device</th>
              <th scope="col">Now</th>
              <th scope="col">Changes</th>
              <th scope="col" class="changes-time">
                Last at {formatZone(zone, Date.now())}
              </th>
            </tr>
          </thead>
          <tbody>
            {devices.map(({ device, change }) => (
              <tr key={device.device_id}>
                <th scope="row">
                  <a class="link" href={deviceHref(device.device_id, device.name)}>
                    {device.name ?? device.device_id}
                  </a>{' '}
                  <span class="quiet">{device.site}</span>
                </th>
                <td>
                  <DeviceState
                    state={change.isOnline ? 'online' : 'offline'}
                    asOf={stale && formatTime(stale.since, zone)}
                  />
                </td>
                <td>{change.times}</td>
                <td>
                  {formatTime(change.at, zone)}
                  <OtherZone ts={change.at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** The order in which sensors and devices are checked, as text for a fleet that is too large to check completely. */
const ORDERS = { sensor: 'the most unusual now first', device: 'those that are offline first' };

/** Renders a note with the number of checked items, because unchecked items may have changes. */
const PartRead = ({ read, total, what }: { read: number; total: number; what: keyof typeof ORDERS }) =>
  total > read ? (
    <>
      Looked at {formatCounted(read, what)} of {formatCount(total)}, {ORDERS[what]}.
    </>
  ) : (
    <>Looked at {formatCounted(read, what)}.</>
  );

const HOUR_MS = 3_600_000;
/** Number of hours before the last hour from which the usual range is computed. */
const HOURS_BEFORE = 5;
/** Number of bins: one bin for each five minutes, and one bin at the edge. */
const POINTS = 12 * (HOURS_BEFORE + 1) + 1;
/** Minimum number of bins for a usual range. A sensor with fewer bins is not judged. */
const LEAST_BINS = 12;
/** Share of the outermost bins that the usual range leaves out. Then half of the range is added as a margin at each side. */
const OUTERMOST = 0.05;
const AIR = 0.5;
/** Minimum margin as a share of the value, so that a constant value may change a little. */
const LEAST_AIR = 0.001;

/** Maximum numbers of sensors and of devices whose history is read. */
const MOST_SENSORS = 100;
const MOST_DEVICES = 300;
const MOST_EVENTS = 50;
const AT_ONCE = 3;

interface SensorChange {
  /** number of times that the value left its usual range or returned */
  crossings: number;
  /** whether the newest bin is outside of the usual range */
  isOut: boolean;
  /** time of the last crossing in epoch ms */
  at: number;
  /** lower end of the usual range */
  low: number;
  high: number;
  /** the value farthest from the usual range */
  farthest: number;
}

/**
 * @param bins bins, oldest first
 * @param since start of the last hour in epoch ms
 * @returns null: the value stayed in its usual range; `unjudged`: the sensor has too little history
 */
export function changeOf(
  { ts, avg }: Pick<Shape, 'ts' | 'avg'>,
  since: number,
): SensorChange | 'unjudged' | null {
  const bins = ts.flatMap((at, index) => {
    const value = avg[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const before = bins.filter(({ at }) => at < since).map(({ value }) => value);
  if (before.length < LEAST_BINS) return 'unjudged';
  const { low, high } = usualRange(before);
  const beyond = (value: number) => Math.max(low - value, value - high, 0);
  let [crossings, isOut, at, farthest] = [0, false, since, low];
  for (const bin of bins.filter((each) => each.at >= since)) {
    if (beyond(bin.value) > beyond(farthest)) farthest = bin.value;
    if (beyond(bin.value) > 0 === isOut) continue;
    isOut = !isOut;
    crossings += 1;
    at = bin.at;
  }
  return crossings === 0 ? null : { crossings, isOut, at, low, high, farthest };
}

function usualRange(values: number[]): { low: number; high: number } {
  const ordered = values.toSorted((a, b) => a - b);
  const cut = Math.floor(ordered.length * OUTERMOST);
  const [low = 0, high = 0] = [ordered[cut], ordered[ordered.length - 1 - cut]];
  const air = Math.max((high - low) * AIR, Math.max(Math.abs(low), Math.abs(high)) * LEAST_AIR);
  return { low: low - air, high: high + air };
}

/** The changes of the state of a device. `at`: time of the last change in epoch ms; `times`: number of changes */
type DeviceChange = { isOnline: boolean; at: number; times: number };

/**
 * @param events events of the device, newest first
 * @param since time in epoch ms from which events count
 * @returns null: the device did not go online or offline
 */
export function cameOrWent(events: DeviceEvent[], since: number): DeviceChange | null {
  const changes = events.filter(({ ts, kind }) => kind !== 'birth' && Date.parse(ts) >= since);
  const [newest] = changes;
  if (!newest) return null;
  return { isOnline: newest.kind === 'online', at: Date.parse(newest.ts), times: changes.length };
}

type ChangedSensor = { item: LatestItem; change: SensorChange };
type ChangedDevice = { device: DeviceItem; change: DeviceChange };

const REFRESH = { refreshMs: 60_000 };

/** Reads the changes in the fleet within the last hour, again each minute. */
function useFleetChanges() {
  const { client, clock } = useServices();
  useFiguresAlone();
  return useQuery(
    'changes',
    async (signal) => {
      const now = clock.now();
      const since = now - HOUR_MS;
      const careful = withLimit(client, createLimit(AT_ONCE));
      const [fleet, items, devices] = await Promise.all([
        client.fleet(signal),
        candidates(client, signal),
        devicesOf(client, since, signal),
      ]);
      const [sensors, moved] = await Promise.all([
        changedSensors(careful, items, { since, now }, signal),
        changedDevices(client, devices, since, signal),
      ]);
      return {
        ...sensors,
        devices: moved,
        sensorsRead: items.length,
        sensorsTotal: fleet.sensors,
        devicesRead: devices.length,
        devicesTotal: deviceCount(fleet),
      };
    },
    REFRESH,
  );
}

/** @returns sensors to check: the most unusual sensors first, then other sensors if the API judged too few */
async function candidates(client: Client, signal: AbortSignal): Promise<LatestItem[]> {
  const { items } = await client.outliers({ limit: MOST_SENSORS }, signal);
  if (items.length === MOST_SENSORS) return items;
  const others = await client.latest({ limit: MOST_SENSORS }, signal);
  const judged = new Set(items.map(keyOf));
  return [...items, ...others.items.filter((item) => !judged.has(keyOf(item)))].slice(0, MOST_SENSORS);
}

/**
 * @param times `since`: start of the last hour, `now`: current time, both in epoch ms
 * @returns changed sensors, most changes first, and the number of sensors with too little history
 */
async function changedSensors(
  client: Client,
  items: LatestItem[],
  { since, now }: { since: number; now: number },
  signal: AbortSignal,
): Promise<{ sensors: ChangedSensor[]; unjudged: number }> {
  const range = { from: since - HOURS_BEFORE * HOUR_MS, to: now };
  const read = items.map(async (item) => {
    const change = changeOf(await createReader(client, item).bins(range, POINTS, signal), since);
    return { item, change };
  });
  const all = await Promise.all(read);
  const sensors = all.flatMap(({ item, change }) =>
    change === null || change === 'unjudged' ? [] : [{ item, change }],
  );
  sensors.sort((a, b) => b.change.crossings - a.change.crossings || b.change.at - a.change.at);
  return { sensors, unjudged: all.filter(({ change }) => change === 'unjudged').length };
}

/**
 * @param since start of the last hour in epoch ms
 * @returns devices to check, first those that went offline since then
 */
async function devicesOf(client: Client, since: number, signal: AbortSignal): Promise<DeviceItem[]> {
  const [offline, all] = await Promise.all([
    client.devices({ state: 'offline', limit: MOST_DEVICES }, signal),
    client.devices({ limit: MOST_DEVICES }, signal),
  ]);
  const byId = new Map([...all.items, ...offline.items].map((device) => [device.device_id, device]));
  const hasGone = ({ state, last_seen }: DeviceItem) =>
    state === 'offline' && Date.parse(last_seen ?? '') >= since;
  return [...byId.values()].sort((a, b) => Number(hasGone(b)) - Number(hasGone(a))).slice(0, MOST_DEVICES);
}

/**
 * @param since start of the last hour in epoch ms
 * @returns changed devices, newest change first
 */
async function changedDevices(
  client: Client,
  devices: DeviceItem[],
  since: number,
  signal: AbortSignal,
): Promise<ChangedDevice[]> {
  const limit = createLimit(AT_ONCE);
  const read = devices.map(async (device) => {
    const query = { from: since, limit: MOST_EVENTS };
    const page = await limit.run(() => client.events(device.device_id, query, signal), signal);
    const change = cameOrWent(page.items, since);
    return change ? [{ device, change }] : [];
  });
  return (await Promise.all(read)).flat().sort((a, b) => b.change.at - a.change.at);
}
