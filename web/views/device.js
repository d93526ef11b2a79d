import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Age } from '../components/age.js';
import { Notice, ProblemNotice, SlowLine } from '../components/notice.js';
import { SensorTable } from '../components/sensor-table.js';
import { Trail } from '../components/trail.js';
import { useParts } from '../state/hooks.js';
import { useQuery } from '../state/use-query.js';
import { useTitle } from '../state/use-title.js';

/**
 * @typedef {import('../api/types.js').DeviceInfo} DeviceInfo
 * @typedef {import('../api/types.js').LatestItem} LatestItem
 */

/** Values come by the stream; whether the device is there, and which sensors it has, by asking again. */
const REFRESH = { refreshMs: 10_000 };

/**
 * One device: where it is, whether it is there, and its sensors, live.
 *
 * @param {{ device: string }} props id or name
 */
export function DeviceView({ device }) {
  const { client, live } = useParts();
  const { data, problem, loading, slow, reload } = useQuery(
    device,
    (signal) => client.device(device, signal),
    REFRESH,
  );
  const items = useMemo(() => (data ? itemsOf(data) : null), [data]);
  const name = data?.name ?? device;
  useTitle(name);
  useEffect(() => {
    if (!data || !items) return;
    live.seed(items);
    live.follow({ devices: [data.device_id] });
  }, [live, data, items]);

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  return html`
    <${Trail} steps=${[{ label: 'Fleet', href: '/' }]} />
    <div class="title">
      <h1>${name}</h1>
      ${data && html`<${DeviceState} device=${data} />`}
    </div>
    ${slow && html`<${SlowLine} />`}
    <section class="panel" aria-label="Sensors">
      ${
        items?.length === 0
          ? html`<${Notice} title="This device has no sensors yet" />`
          : html`<${SensorTable} caption=${`Sensors of ${name}`} items=${items} busy=${loading} expected=${4} ofDevice />`
      }
    </section>
  `;
}

/** @param {{ device: DeviceInfo }} props */
function DeviceState({ device }) {
  return html`
    <ul class="facts">
      <li class="state" data-online=${device.online}>${device.online ? 'Online' : 'Offline'}</li>
      ${device.site && html`<li><a href=${`/?site=${encodeURIComponent(device.site)}`}>${device.site}</a></li>`}
      ${!device.online && html`<li>last heard <${Age} ts=${device.last_seen} /></li>`}
    </ul>
  `;
}

/** @param {DeviceInfo} device @returns {LatestItem[]} its sensors in the form that pages and streams have */
function itemsOf({ device_id, name, site, sensors }) {
  const byName = sensors.toSorted((a, b) => (a.name ?? a.sensor_id).localeCompare(b.name ?? b.sensor_id));
  return byName.map((sensor) => ({
    device_id,
    sensor_id: sensor.sensor_id,
    device: name,
    name: sensor.name,
    type: sensor.type,
    unit: sensor.unit,
    site,
    ts: sensor.ts,
    value: sensor.value,
  }));
}
