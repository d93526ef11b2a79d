import { keyOf } from '../api/stream/index.ts';
import { formatCount, formatCounted, formatSpan, NOTHING } from '../format.ts';
import { deviceHref, sensorHref, withQuery } from '../routes.ts';
import { hasOpen, openCountText, useActiveAlarms } from '../state/alarms.ts';
import { refusalRate } from '../state/device.ts';
import { MOST_SENSORS } from '../state/fleet.ts';
import { useServices } from '../state/hooks.ts';
import type { Matcher } from '../state/lists.ts';
import type { Faults } from '../state/outliers.ts';
import { nothingFar, OLD_VALUES } from '../state/outliers.ts';
import { sensorValueText } from '../units.ts';
import { listMatcherOf } from './wall-canvas.ts';
import './wall.css';
import type { ReadonlySignal } from '@preact/signals';
import type { FleetInfo, RefusedDevice } from '../api/types.ts';
import type { OpenAlarms } from '../state/alarms.ts';
import type { Fleet, FleetDevice, FleetSensor } from '../state/fleet.ts';
import type { FleetState } from '../state/fleet-state.ts';
import type { UnitChoices } from '../units.ts';

/** Number of entries that the list shows of each kind of fault. A kind that the user chose, or that is the only one, shows more. */
const ENTRIES_OF_KIND = 4;
const MORE = 12;

/**
 * Renders the list of faults and outliers of the fleet, each with a link. The list replaces the wall for screen readers. Faults
 * come before outliers.
 *
 * @param props `refused`: devices whose messages are refused; `isStale`: no values arrive
 */
export function OutlierList({
  fleetState,
  refused: every,
  isStale,
}: {
  fleetState: ReadonlySignal<FleetState>;
  refused: RefusedDevice[];
  isStale: boolean;
}) {
  const { live, preferences, router } = useServices();
  const { faults: all, info, now } = fleetState.value;
  const { units } = preferences.choice.value;
  const matches = listMatcherOf(router.place.value.query);
  const faults = matches ? live.fleet.listFaults(matches) : all;
  const { far, silent, offline, farCount, silentCount } = faults;
  const open = withMatching(useActiveAlarms(), live.fleet, matches);
  const refused = matches ? every.filter((device) => isMatching(device, live.fleet, matches)) : every;
  const nothing = farCount + silentCount + offline.length + refused.length === 0 && !hasOpen(open);
  const counts = [farCount, silentCount, offline.length, refused.length];
  const isOnly = counts.filter((count) => count > 0).length === 1;
  const isRead = live.fleet.isRead() && info !== null && open !== null;
  return (
    <section class="stands-out" aria-label="What stands out">
      <AlarmsOnWall open={open} />
      <Kind
        look="offline"
        title="Devices offline"
        count={offline.length}
        items={offline}
        entryOf={(device) => offlineEntry(device, live.fleet.holdsAll())}
        isOnly={isOnly}
      />
      <Kind
        look="silent"
        title="Silent"
        count={silentCount}
        items={silent}
        entryOf={(sensor) => silentEntry(sensor, now)}
        isOnly={isOnly}
      />
      <RefusedDevices refused={refused} />
      <Kind
        look="far"
        title="Far off"
        count={farCount}
        items={far}
        entryOf={(sensor) => farEntry(sensor, units)}
        isOnly={isOnly}
      />
      {(nothing || !isRead) && (
        <p class="stands-out-none">
          {isRead
            ? calmText({ faults, isPart: matches !== null, isStale, fleet: live.fleet, info })
            : readingText(live.fleet, info)}
        </p>
      )}
    </section>
  );
}

/**
 * Renders the list of open alarms next to the wall.
 *
 * @param props `open`: open alarms that are not shelved; null: unknown yet
 */
export function AlarmsOnWall({ open }: { open: OpenAlarms | null }) {
  const { live, preferences } = useServices();
  const { units } = preferences.choice.value;
  if (!hasOpen(open)) return null;
  const { alarms } = open;
  return (
    <div class="stands-out-kind">
      <h2>
        <a href="/alarms" title="Show the alarms">
          Alarms <b>{openCountText(alarms.length, open)}</b>
        </a>
      </h2>
      <ul>
        {alarms
          .slice(0, ENTRIES_OF_KIND)
          .map(({ alarm_id, device_id, sensor_id, device, sensor, rule, severity }) => {
            const known = live.fleet.sensors.get(keyOf({ device_id, sensor_id }));
            return (
              <li key={alarm_id}>
                <a href={sensorHref(device_id, sensor_id, { device, sensor })} title={rule}>
                  <span class="stands-out-name">
                    <span class="stands-out-what">{sensor ?? sensor_id}</span>{' '}
                    <span class="stands-out-of">{device ?? device_id}</span>
                  </span>
                  <span class="stands-out-text" data-tone={severity === 'critical' ? 'bad' : 'warn'}>
                    {known ? sensorValueText(known, units) : NOTHING}
                  </span>
                </a>
              </li>
            );
          })}
      </ul>
      <More count={alarms.length - ENTRIES_OF_KIND} isCut={open.isCut} href="/alarms" />
    </div>
  );
}

/** Renders a link to the entries that a list leaves out. */
const More = ({ count, isCut = false, href }: { count: number; isCut?: boolean; href: string }) =>
  count > 0 && (
    <p class="stands-out-more">
      <a class="link" href={href}>
        and {openCountText(count, { isCut })} more
      </a>
    </p>
  );

/** Returns the text about data that is still being read. Until fleet and alarms are read completely, the page gives no all-clear. */
function readingText(fleet: Fleet, info: FleetInfo | null) {
  if (fleet.isRead() && info !== null) return 'Reading the open alarms …';
  const total = Math.min(info?.sensors ?? 0, MOST_SENSORS);
  const read = fleet.sensors.size;
  return total > read && !fleet.isNarrow()
    ? `Reading ${formatCount(read)} of ${formatCount(total)} …`
    : `Reading ${formatCounted(read, 'sensor')} …`;
}

/** @returns the alarms of matching sensors */
function withMatching(open: OpenAlarms | null, fleet: Fleet, matches: Matcher | null): OpenAlarms | null {
  if (!open || !matches) return open;
  const isShown = (sensor: FleetSensor | undefined) => sensor !== undefined && matches(sensor);
  return { ...open, alarms: open.alarms.filter((alarm) => isShown(fleet.sensors.get(keyOf(alarm)))) };
}

const isMatching = ({ device_id }: RefusedDevice, fleet: Fleet, matches: Matcher): boolean =>
  fleet.devices.get(device_id)?.sensors.some(matches) ?? false;

/** @param known `isPart`: the list has only the faults of sensors that match the filters */
function calmText({
  faults: { unjudged, sensorCount, notLiveSensors },
  isPart,
  isStale,
  fleet,
  info,
}: {
  faults: Faults;
  isPart: boolean;
  isStale: boolean;
  fleet: Fleet;
  info: FleetInfo;
}) {
  if (isStale) return OLD_VALUES;
  const known = isPart ? sensorCount : fleet.sensors.size;
  if (isPart && known === 0) return 'No sensor matches the filters.';
  return unjudged === 0 && !isPart && info.sensors > known && fleet.overflow() > 0
    ? `Nothing stands out among the ${formatCount(known)} sensors that are shown. ${formatCount(info.sensors - known)} are not.`
    : nothingFar({ sensors: known - notLiveSensors, judged: known - notLiveSensors - unjudged });
}

type Entry = { key: string; href: string; name: string; owner: string; text: string; tone: string };

function farEntry(sensor: FleetSensor, choices: UnitChoices): Entry {
  const value = sensorValueText(sensor, choices);
  const isLow = Number(sensor.sigmas) < 0;
  return { ...linkTo(sensor), text: `${isLow ? '▼' : '▲'} ${value}`, tone: isLow ? 'low' : 'high' };
}

const silentEntry = (sensor: FleetSensor, now: number): Entry => ({
  ...linkTo(sensor),
  text: formatSpan(now - sensor.at),
  tone: 'bad',
});

/** @param isWhole whether all sensors of the fleet were read, so that the sensors of the device are known */
export const offlineEntry = ({ id, name, site, sensors }: FleetDevice, isWhole: boolean): Entry => ({
  key: id,
  href: deviceHref(id, name),
  name,
  owner: site ?? '',
  text: isWhole ? formatCounted(sensors.length, 'sensor') : '',
  tone: 'bad',
});

const linkTo = ({ key, id, name, device }: FleetSensor) => ({
  key,
  href: sensorHref(device.id, id, { device: device.name, sensor: name }),
  name,
  owner: device.name,
});

/** Renders the entries of one kind. Only shown entries are created, because the list is drawn each second and each entry costs hashes. */
function Kind<T>({
  look,
  title,
  count,
  items,
  entryOf,
  isOnly,
}: {
  look: string;
  title: string;
  /** number of all entries, which may exceed the number of items */
  count: number;
  items: readonly T[];
  entryOf: (item: T) => Entry;
  isOnly: boolean;
}) {
  const { router } = useServices();
  const place = router.place.value;
  if (count === 0) return null;
  const chosen = place.query.get('look') === look;
  const hidden = place.query.has('look') && !chosen;
  const shown = hidden ? [] : items.slice(0, chosen || isOnly ? MORE : ENTRIES_OF_KIND).map(entryOf);
  const href = withQuery(place, { look: chosen ? null : look });
  return (
    <div class="stands-out-kind" data-look={look}>
      <h2>
        <a
          href={href}
          aria-current={chosen ? 'true' : undefined}
          title={chosen ? 'Show all again' : 'Show only these on the wall'}
        >
          {title} <b>{formatCount(count)}</b>
        </a>
      </h2>
      <ul>
        {shown.map(({ key, href: to, name, owner, text, tone }) => (
          <li key={key}>
            <a href={to}>
              <span class="stands-out-name">
                <span class="stands-out-what">{name}</span> <span class="stands-out-of">{owner}</span>
              </span>
              <span class="stands-out-text" data-tone={tone}>
                {text}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {chosen && count > shown.length && (
        <p class="stands-out-more">and {formatCount(count - shown.length)} more, on the wall</p>
      )}
      {!chosen && !hidden && <More count={count - shown.length} href={href} />}
    </div>
  );
}

/**
 * Renders the list of devices with refused messages, next to the wall.
 *
 * @param props `refused`: devices, most refusals first
 */
export function RefusedDevices({ refused }: { refused: RefusedDevice[] }) {
  const { live } = useServices();
  if (refused.length === 0) return null;
  return (
    <div class="stands-out-kind">
      <h2>
        <a href="/dead-letters" title="Show the dead letters, with the reasons">
          Sends, but refused <b>{formatCount(refused.length)}</b>
        </a>
      </h2>
      <ul>
        {refused.slice(0, ENTRIES_OF_KIND).map((one) => {
          // If all messages of a device were refused, the device is not registered, and has no page to link to.
          const known = live.fleet.devices.get(one.device_id);
          return (
            <li key={one.device_id}>
              <a href={known ? deviceHref(one.device_id) : '/dead-letters'}>
                <span class="stands-out-name">
                  <span class="stands-out-what">{known?.name ?? one.device}</span>
                </span>
                <span class="stands-out-text" data-tone="bad">
                  {refusalRate(one)}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      <More count={refused.length - ENTRIES_OF_KIND} href="/dead-letters" />
    </div>
  );
}
