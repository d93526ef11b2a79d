import { html } from 'htm/preact';
import { formatCount, formatCounted, formatNumber, formatSpan, formatUnit } from '../format.js';
import { deviceHref, sensorHref } from '../routes.js';
import { useObservable, useServices } from '../state/hooks.js';
import { withQuery } from '../state/router.js';

/** @import { FleetDevice, FleetSensor } from '../state/device-index.js' */
/** @import { Observable } from '../state/observable.js' */
/** @import { FleetState } from '../state/fleet-state.js' */

/** Entries shown of each kind; of the one that was chosen, more. */
const FEW = 4;
const MORE = 12;

/**
 * The outliers of the fleet as text, each with a link: the wall for screen readers, and links for everyone.
 *
 * @param {{ fleetState: Observable<FleetState> }} props
 */
export function OutlierList({ fleetState }) {
  const { outliers, now } = useObservable(fleetState);
  const { far, silent, offline, farCount, silentCount, learning } = outliers;
  const nothing = farCount + silentCount + offline.length === 0;
  return html`
    <section class="stands-out" aria-label="What stands out">
      <${Kind} look="far" title="Far off" count=${farCount} entries=${far.map(farEntry)} />
      <${Kind} look="silent" title="Silent" count=${silentCount} entries=${silent.map((sensor) => silentEntry(sensor, now))} />
      <${Kind} look="offline" title="Devices offline" count=${offline.length} entries=${offline.map(offlineEntry)} />
      ${nothing && html`<p class="stands-out-none">${learning > 0 ? 'Learning what is usual for each sensor. Until then each is compared with others of its type.' : 'Nothing stands out.'}</p>`}
    </section>
  `;
}

/** @typedef {{ key: string, href: string, name: string, owner: string, text: string, tone: string }} Entry */

/** @param {FleetSensor} sensor @returns {Entry} */
const farEntry = (sensor) => ({
  ...linkTo(sensor),
  text: `${sensor.score < 0 ? '▼' : '▲'} ${formatNumber(sensor.value)} ${formatUnit(sensor.unit)}`,
  tone: sensor.score < 0 ? 'low' : 'high',
});

/** @param {FleetSensor} sensor @param {number} now @returns {Entry} */
const silentEntry = (sensor, now) => ({ ...linkTo(sensor), text: formatSpan(now - sensor.at), tone: 'warn' });

/** @param {FleetDevice} device @returns {Entry} */
const offlineEntry = ({ id, name, site, sensors }) => ({
  key: id,
  href: deviceHref(id),
  name,
  owner: site ?? '',
  text: formatCounted(sensors.length, 'sensor'),
  tone: '',
});

/** @param {FleetSensor} sensor */
const linkTo = ({ key, id, name, device }) => ({
  key,
  href: sensorHref(device.id, id),
  name,
  owner: device.name,
});

/** @param {{ look: string, title: string, count: number, entries: Entry[] }} props */
function Kind({ look, title, count, entries }) {
  const { router } = useServices();
  const place = useObservable(router.place);
  if (count === 0) return null;
  const chosen = place.query.get('look') === look;
  const hidden = place.query.has('look') && !chosen;
  const shown = hidden ? [] : entries.slice(0, chosen ? MORE : FEW);
  const href = withQuery(place, { look: chosen ? null : look });
  return html`
    <div class="stands-out-kind" data-look=${look}>
      <h3><a href=${href} aria-current=${chosen ? 'true' : undefined} title=${chosen ? 'Light all again' : 'Light only these on the wall'}>${title} <b>${formatCount(count)}</b></a></h3>
      <ul>
        ${shown.map(
          ({ key, href: to, name, owner, text, tone }) => html`
            <li key=${key}><a href=${to}><span class="stands-out-name"><span class="stands-out-what">${name}</span> <span class="stands-out-of">${owner}</span></span><span class="stands-out-text" data-tone=${tone}>${text}</span></a></li>
          `,
        )}
      </ul>
      ${chosen && count > shown.length && html`<p class="stands-out-more">and ${formatCount(count - shown.length)} more, lit on the wall</p>`}
    </div>
  `;
}
