import { useFleetChanges } from '../compare/changes.ts';
import { CompareButton } from '../components/comparison.tsx';
import { Online } from '../components/device-title.tsx';
import { ListSwitch } from '../components/list-controls.tsx';
import { ProblemNotice, SlowLine } from '../components/notice.tsx';
import {
  decimalsFor,
  formatCount,
  formatCounted,
  formatNumber,
  formatTime,
  formatUnit,
  formatZone,
} from '../format.ts';
import { deviceHref, itemHref } from '../routes.ts';
import { useServices, useTitle } from '../state/hooks.ts';
import '../styles/device.css';
import type { ChangedDevice, ChangedSensor } from '../compare/changes.ts';

/** What changed in the last hour: sensors whose values left their usual range or returned, and devices that came or went. */
export function ChangesView() {
  const { data, problem, slow, reload } = useFleetChanges();
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
          <p class="none" role="status">
            Reading the last six hours…
          </p>
        )}
        {data && (
          <div class="changes">
            <Sensors sensors={data.sensors} read={data.sensorsRead} />
            <Devices devices={data.devices} read={data.devicesRead} />
          </div>
        )}
      </section>
    </>
  );
}

function Sensors({ sensors, read }: { sensors: ChangedSensor[]; read: number }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <div>
      <h2>Values that left their range or returned</h2>
      <p class="changes-note">
        The range is that of the five hours before, in averages of five minutes.{' '}
        <PartRead read={read} what="sensor" total={useTotals().sensors} />
      </p>
      {sensors.length === 0 ? (
        <p class="none">All of them stayed in their range.</p>
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
              <tr key={`${item.device_id}/${item.sensor_id}`}>
                <th scope="row">
                  <a class="link" href={`${itemHref(item)}?range=6h`}>
                    {item.name ?? item.sensor_id}
                  </a>{' '}
                  <span class="quiet">{item.device ?? item.device_id}</span>
                </th>
                <td class="wraps">{changeText({ item, change })}</td>
                <td>{rangeText({ item, change })}</td>
                <td>{formatTime(change.at, zone)}</td>
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

function changeText({ item, change: { crossings, isOut, farthest } }: ChangedSensor): string {
  const value = `${formatNumber(farthest)} ${formatUnit(item.unit)}`.trim();
  if (crossings === 1) return `Left it, up to ${value}`;
  return `${isOut ? 'Out of it now' : 'Back in it'}, ${formatCounted(crossings, 'change')}, up to ${value}`;
}

function rangeText({ item, change: { low, high } }: ChangedSensor): string {
  const decimals = decimalsFor([low, high]);
  return `${formatNumber(low, decimals)} to ${formatNumber(high, decimals)} ${formatUnit(item.unit)}`.trim();
}

function Devices({ devices, read }: { devices: ChangedDevice[]; read: number }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <div>
      <h2>Devices that came or went</h2>
      <p class="changes-note">
        <PartRead read={read} what="device" total={useTotals().devices} />
      </p>
      {devices.length === 0 ? (
        <p class="none">None came or went.</p>
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
                  <Online online={change.isOnline} />
                </td>
                <td>{change.times}</td>
                <td>{formatTime(change.at, zone)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** @returns of the fleet, as far as this page has received it */
function useTotals(): { sensors: number; devices: number } {
  const { live } = useServices();
  return { sensors: live.fleet.sensors.size, devices: live.fleet.devices.size };
}

/** How many were looked at: a part may have no change where the rest has some. */
const PartRead = ({ read, total, what }: { read: number; total: number; what: string }) =>
  total > read ? (
    <>
      Looked at {formatCounted(read, what)} of {formatCount(total)}, those with a sign of a change first.
    </>
  ) : (
    <>Looked at {formatCounted(read, what)}.</>
  );
