import type { ComponentChildren } from 'preact';
import type { DeviceInfo, RefusedDevice } from '../api/types.ts';
import { clockWords, formatCount, formatCounted, formatDateTime } from '../format.ts';
import { deviceHref } from '../routes.ts';
import { useAlarmsOf } from '../state/alarms.ts';
import { lastSeenAt, refusalRate, useRefusals } from '../state/device.ts';
import { useServices } from '../state/hooks.ts';
import { keyOf } from '../state/live.ts';
import { Age } from './figure.tsx';
import { Notice } from './notice.tsx';

/** The title of a device page: name, label, site and state. */
export const DeviceTitle = ({
  name,
  device,
  children,
}: {
  name: string;
  /** null: not known yet */
  device: DeviceInfo | null;
  /** what can be done with it */
  children?: ComponentChildren;
}) => (
  <div class="title">
    <div>
      <h1>{name}</h1>
      {device?.label && <p class="title-label">{device.label}</p>}
      {device ? (
        <Facts device={device} />
      ) : (
        <p class="facts waiting" aria-hidden="true">
          <span class="bar bar-facts" />
        </p>
      )}
    </div>
    {children}
  </div>
);

function Facts({ device }: { device: DeviceInfo }) {
  const { device_id, name, online, site, registered_at, sensors, clock_offset_ms } = device;
  const refusals = useRefusals(device_id);
  const hasAlarm = useAlarmsOf(device_id).length > 0;
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <ul class="facts">
      <li>
        <Online online={online} />
      </li>
      {hasAlarm && (
        <li>
          <AlarmMark device={device_id} />
        </li>
      )}
      {refusals && (
        <li>
          <Refusals refusals={refusals} online={online} />
        </li>
      )}
      {name === null && <li>no name yet</li>}
      {site && (
        <li>
          <a href={`/?show=devices&site=${encodeURIComponent(site)}`}>{site}</a>
        </li>
      )}
      <li>{formatCounted(sensors.length, 'sensor')}</li>
      <li>
        last seen <LastSeen device={device} />
      </li>
      {clock_offset_ms && <li class="facts-clock">{clockWords(clock_offset_ms)}</li>}
      {registered_at && (
        <li>
          registered <time datetime={registered_at}>{formatDateTime(Date.parse(registered_at), zone)}</time>
        </li>
      )}
    </ul>
  );
}

/** Uses live values, since the answer of the API grows old next to them. */
function LastSeen({ device: { device_id, last_seen, sensors } }: { device: DeviceInfo }) {
  const { live, clock } = useServices();
  const now = clock.time.value;
  const newest = sensors.map((sensor) => live.sensor(keyOf({ ...sensor, device_id }))?.item ?? sensor);
  return <Age ts={lastSeenAt(last_seen, newest, now)} isAgo />;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The page of a device that does not exist.
 *
 * @param props id or name
 */
export function DeviceMissing({ device }: { device: string }) {
  const isName = !UUID.test(device);
  const refusals = useRefusals(device);
  return (
    <Notice isPage title={`There is no device “${device}”`} tone="warn">
      <p>
        It was retired, or the address is mistyped. A device appears here by itself with its first message.
      </p>
      {refusals && (
        <p>
          <Refusals refusals={refusals} online={false} />
        </p>
      )}
      <p class="notice-actions">
        {isName && (
          <a class="button" href={`/?show=devices&name=${encodeURIComponent(device)}`}>
            Search names that begin like this
          </a>
        )}
        <a class="button" href="/">
          To the fleet
        </a>
      </p>
    </Notice>
  );
}

/** The state of a device, as a symbol and a word. */
export const Online = ({ online }: { online: boolean }) => (
  <span class="state" data-online={online}>
    {online ? 'Online' : 'Offline'}
  </span>
);

/** Devices shown next to the wall. */
const FEW = 4;

/**
 * The devices that send, but are refused, next to the wall.
 *
 * @param props most refusals first
 */
export function RefusedDevices({ refused }: { refused: RefusedDevice[] }) {
  const { live } = useServices();
  if (refused.length === 0) return null;
  return (
    <div class="stands-out-kind">
      <h3>
        <a href="/dead-letters" title="Show the dead letters, with the reasons">
          Sends, but refused <b>{formatCount(refused.length)}</b>
        </a>
      </h3>
      <ul>
        {refused.slice(0, FEW).map((one) => {
          // A device of which everything was refused is not registered, and has no page.
          const known = live.fleet.devices.get(one.device_id);
          return (
            <li key={one.device_id}>
              <a href={known ? deviceHref(one.device_id) : '/dead-letters'}>
                <span class="stands-out-name">
                  <span class="stands-out-what">{known?.name ?? one.device}</span>
                </span>
                <span class="stands-out-text" data-tone="warn">
                  {refusalRate(one)}
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
 * That a device sends and is refused, on its own page.
 *
 * @param props `online`: the device counts as online
 */
export const Refusals = ({ refusals, online }: { refusals: RefusedDevice; online: boolean }) => (
  <a class="refusals" href="/dead-letters">
    ! {online ? 'refused in part' : 'sends, but refused'}: {refusalRate(refusals)}
  </a>
);

/**
 * That a device has open alarms, with a link to them.
 *
 * @param props id
 */
export function AlarmMark({ device }: { device: string }) {
  const alarms = useAlarmsOf(device);
  if (alarms.length === 0) return null;
  return (
    <a
      class="alarm-mark"
      href="/alarms"
      data-critical={alarms.some(({ severity }) => severity === 'critical')}
    >
      ▲ {formatCounted(alarms.length, 'alarm')}
    </a>
  );
}
