import { RefusedDevices } from '../components/device-title.jsx';
import { formatCount, formatCounted, formatSpan } from '../format.js';
import { deviceHref, sensorHref, withQuery } from '../routes.js';
import { isShelved } from '../state/alarms.js';
import { useRefusedDevices } from '../state/device.js';
import { MOST_SENSORS } from '../state/fleet.js';
import { useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { nothingFar, OLD_VALUES, provisionalText } from '../state/outliers.js';
import { writeValue } from '../units.js';
import '../styles/wall.css';

/** @import { FleetInfo } from '../api/types.js' */
/** @import { Fleet, FleetDevice, FleetSensor } from '../state/fleet.js' */
/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { FleetState } from '../state/fleet-state.js' */
/** @import { UnitChoices } from '../units.js' */

/** Entries shown of each kind; of one that was chosen, or is the only one, more. */
const FEW = 4;
const MORE = 12;

/**
 * The outliers of the fleet as text, each with a link: the wall for screen readers, and links for everyone.
 *
 * @param {{ fleetState: ReadonlySignal<FleetState>, isStale: boolean }} props `isStale`: no values come
 */
export function OutlierList({ fleetState, isStale }) {
  const { live, preferences } = useServices();
  const { outliers, info, now } = fleetState.value;
  const { units } = preferences.choice.value;
  const refused = useRefusedDevices();
  const { far, silent, offline, farCount, silentCount, unjudged, provisional } = outliers;
  const nothing = farCount + silentCount + offline.length + refused.length === 0;
  const counts = [farCount, silentCount, offline.length, refused.length];
  const isOnly = counts.filter((count) => count > 0).length === 1;
  const isRead = live.fleet.isRead() && info !== null;
  return (
    <section class="stands-out" aria-label="What stands out">
      <AlarmsOnWall now={now} choices={units} />
      <Kind
        look="far"
        title="Far off"
        count={farCount}
        entries={far.map((sensor) => farEntry(sensor, units))}
        isOnly={isOnly}
      />
      <Kind
        look="silent"
        title="Silent"
        count={silentCount}
        entries={silent.map((sensor) => silentEntry(sensor, now))}
        isOnly={isOnly}
      />
      <Kind
        look="offline"
        title="Devices offline"
        count={offline.length}
        entries={offline.map(offlineEntry)}
        isOnly={isOnly}
      />
      <RefusedDevices refused={refused} />
      {(nothing || !isRead) && (
        <p class="stands-out-none">
          {isRead ? calmText({ unjudged, isStale, fleet: live.fleet, info }) : readingText(live.fleet, info)}
        </p>
      )}
      {provisional > 0 && <p class="stands-out-note">{provisionalText(provisional)}</p>}
    </section>
  );
}

/** The open alarms, next to the wall. @param {{ now: number, choices: UnitChoices }} props */
function AlarmsOnWall({ now, choices }) {
  const { live } = useServices();
  const alarms = live.openAlarms.value.filter((alarm) => !isShelved(alarm, now));
  if (alarms.length === 0) return null;
  return (
    <div class="stands-out-kind">
      <h3>
        <a href="/alarms" title="Show the alarms">
          Alarms <b>{formatCount(alarms.length)}</b>
        </a>
      </h3>
      <ul>
        {alarms.slice(0, FEW).map(({ alarm_id, device_id, sensor_id, device, sensor, rule, severity }) => {
          const known = live.fleet.sensors.get(keyOf({ device_id, sensor_id }));
          const { number, unit } = writeValue(known?.value ?? null, known?.unit ?? null, { choices });
          return (
            <li key={alarm_id}>
              <a href={sensorHref(device_id, sensor_id, { device, sensor })} title={rule}>
                <span class="stands-out-name">
                  <span class="stands-out-what">{sensor ?? sensor_id}</span>{' '}
                  <span class="stands-out-of">{device ?? device_id}</span>
                </span>
                <span class="stands-out-text" data-tone={severity === 'critical' ? 'bad' : 'warn'}>
                  {number} {unit}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/**
 * Nothing can be said of a fleet that was read in part.
 *
 * @param {Fleet} fleet
 * @param {FleetInfo | null} info
 */
function readingText(fleet, info) {
  const total = Math.min(info?.sensors ?? 0, MOST_SENSORS);
  const read = fleet.sensors.size;
  return total > read && !fleet.isNarrow()
    ? `Reading ${formatCount(read)} of ${formatCount(total)} …`
    : `Reading ${formatCounted(read, 'sensor')} …`;
}

/**
 * @param {{ unjudged: number, isStale: boolean, fleet: Fleet, info: FleetInfo }} known `unjudged`: sensors without a baseline
 */
function calmText({ unjudged, isStale, fleet, info }) {
  if (isStale) return OLD_VALUES;
  const known = fleet.sensors.size;
  return unjudged === 0 && info.sensors > known && fleet.refused() > 0
    ? `Nothing stands out among the ${formatCount(known)} sensors that are shown. ${formatCount(info.sensors - known)} are not.`
    : nothingFar({ sensors: known, judged: known - unjudged });
}

/** @typedef {{ key: string, href: string, name: string, owner: string, text: string, tone: string }} Entry */

/** @param {FleetSensor} sensor @param {UnitChoices} choices @returns {Entry} */
function farEntry(sensor, choices) {
  const { number, unit } = writeValue(sensor.value, sensor.unit, { choices });
  const isLow = Number(sensor.sigmas) < 0;
  return { ...linkTo(sensor), text: `${isLow ? '▼' : '▲'} ${number} ${unit}`, tone: isLow ? 'low' : 'high' };
}

/** @param {FleetSensor} sensor @param {number} now @returns {Entry} */
const silentEntry = (sensor, now) => ({ ...linkTo(sensor), text: formatSpan(now - sensor.at), tone: 'warn' });

/** @param {FleetDevice} device @returns {Entry} */
const offlineEntry = ({ id, name, site, sensors }) => ({
  key: id,
  href: deviceHref(id, name),
  name,
  owner: site ?? '',
  text: formatCounted(sensors.length, 'sensor'),
  tone: '',
});

/** @param {FleetSensor} sensor */
const linkTo = ({ key, id, name, device }) => ({
  key,
  href: sensorHref(device.id, id, { device: device.name, sensor: name }),
  name,
  owner: device.name,
});

/** @param {{ look: string, title: string, count: number, entries: Entry[], isOnly: boolean }} props */
function Kind({ look, title, count, entries, isOnly }) {
  const { router } = useServices();
  const place = router.place.value;
  if (count === 0) return null;
  const chosen = place.query.get('look') === look;
  const hidden = place.query.has('look') && !chosen;
  const shown = hidden ? [] : entries.slice(0, chosen || isOnly ? MORE : FEW);
  const href = withQuery(place, { look: chosen ? null : look });
  return (
    <div class="stands-out-kind" data-look={look}>
      <h3>
        <a
          href={href}
          aria-current={chosen ? 'true' : undefined}
          title={chosen ? 'Light all again' : 'Light only these on the wall'}
        >
          {title} <b>{formatCount(count)}</b>
        </a>
      </h3>
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
        <p class="stands-out-more">and {formatCount(count - shown.length)} more, lit on the wall</p>
      )}
    </div>
  );
}
