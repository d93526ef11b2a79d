import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DeviceSensors, NoSensors, SensorChoice } from '../components/device-sensors.js';
import { DeviceSignals } from '../components/device-signals.js';
import { DeviceMissing, DeviceTitle } from '../components/device-title.js';
import { EventList } from '../components/event-list.js';
import { Breadcrumbs } from '../components/navigation.js';
import { OfflineBanner, ProblemNotice, SlowLine } from '../components/notice.js';
import { RetireDialog } from '../components/retire-dialog.js';
import { SensorTable } from '../components/sensor-table.js';
import { chooseSensors, useDevice } from '../state/device.js';
import { useDeviceEvents } from '../state/device-events.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { useMay } from '../state/session.js';
import { useOfflineSince } from '../state/stats.js';

/** @import { DeviceInfo, LatestItem } from '../api/types.js' */

/**
 * One device: whether it is there, its sensors live and over time, and what became of it.
 *
 * @param {{ device: string }} props id or name
 */
export function DeviceView({ device: asked }) {
  const { device, items, missing, problem, slow, reload } = useDevice(asked);
  const offlineSince = useOfflineSince();
  const [isRetiring, setRetiring] = useState(false);
  const name = device?.name ?? asked;
  useTitle(name);

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  return html`
    <${Breadcrumbs} steps=${[{ label: 'Fleet', href: '/' }, { label: 'Devices', href: '/?show=devices' }]} />
    <${OfflineBanner} since=${offlineSince} />
    ${slow && html`<${SlowLine} />`}
    ${
      missing
        ? html`<${DeviceMissing} device=${asked} />`
        : html`<${DeviceTitle} name=${name} device=${device}>
            ${device && html`<${Retire} onAsk=${() => setRetiring(true)} />`}
          <//>`
    }
    ${!missing && (device && items ? html`<${Known} device=${device} items=${items} reload=${reload} />` : html`<${Waiting} />`)}
    ${device && isRetiring && html`<${RetireDialog} device=${device} onClose=${() => setRetiring(false)} />`}
  `;
}

/** Readers without the scope admin see a reason next to the button. @param {{ onAsk: () => void }} props */
function Retire({ onAsk }) {
  const may = useMay('admin');
  return html`
    <div class="retire">
      ${!may && html`<p id="retire-note">Your token reads; retiring needs one of the scope admin.</p>`}
      <button type="button" class="button" aria-haspopup="dialog" disabled=${!may} aria-describedby=${may ? undefined : 'retire-note'} onClick=${onAsk}>Retire…</button>
    </div>
  `;
}

/**
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {LatestItem[]} props.items
 * @param {() => void} props.reload
 */
function Known({ device, items, reload }) {
  const { router } = useServices();
  const { query } = useObservable(router.place);
  const history = useDeviceEvents(device.device_id);
  const { shown, found, more } = useMemo(() => chooseSensors(items, query), [items, query]);
  const name = device.name ?? device.device_id;

  const newestEvent = history.events?.[0]?.ts ?? null;
  useNews(history.events && (newestEvent ?? ''), reload);
  return html`
    <${SensorChoice} all=${items.length} found=${found} shown=${shown.length} more=${more} />
    <${DeviceSignals} device=${device} items=${shown} newestEvent=${newestEvent} />
    <div class="device-lists">
      ${items.length === 0 ? html`<${NoSensors} />` : html`<${DeviceSensors} name=${name} shown=${shown} />`}
      <section class="panel" aria-label="Events">
        <${EventList} history=${history} online=${device.online} />
      </section>
    </div>
  `;
}

const Waiting = () => html`
  <section class="panel" aria-label="Sensors">
    <${SensorTable} caption="Sensors" items=${null} busy expected=${4} ofDevice />
  </section>
`;

/**
 * With a new event the device may have another state, and other sensors.
 *
 * @param {string | null} newest time of the newest event, empty where there is none; null: not known yet
 * @param {() => void} reload
 */
function useNews(newest, reload) {
  const last = useRef(newest);
  useEffect(() => {
    const isNews = last.current !== null && newest !== last.current;
    last.current = newest;
    if (isNews) reload();
  }, [newest, reload]);
}
