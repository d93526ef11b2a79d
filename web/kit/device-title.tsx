import type { ComponentChildren } from 'preact';
import { keyOf } from '../api/stream/index.ts';
import type { DeviceInfo, Presence } from '../api/types.ts';
import { clockWords, formatCounted, formatDateTime, formatTime } from '../format.ts';
import { lastSeenAt } from '../state/device.ts';
import { useServices } from '../state/hooks.ts';
import type { Stale } from '../state/verdict.ts';
import { Age } from './figure.tsx';
import { Notice } from './notice.tsx';
import { Slot } from './slots.tsx';

export const DeviceTitle = ({
  name,
  device,
  stale,
  children,
}: {
  name: string;
  device: DeviceInfo | null;
  stale: Stale | null;
  children?: ComponentChildren;
}) => (
  <div class="title">
    <div>
      <h1>{name}</h1>
      {device?.label && <p class="title-label">{device.label}</p>}
      {device ? (
        <Facts device={device} stale={stale} />
      ) : (
        <p class="facts waiting" aria-hidden="true">
          <span class="bar bar-facts" />
        </p>
      )}
    </div>
    {children}
  </div>
);

function Facts({ device, stale }: { device: DeviceInfo; stale: Stale | null }) {
  const { device_id, name, state, site, registered_at, sensors, clock_offset_ms } = device;
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <ul class="facts">
      <li>
        <DeviceState state={state} asOf={stale && formatTime(stale.since, zone)} />
      </li>
      <Slot name="deviceMark" device={device_id} isOnline={state === 'online'} isFact />
      {name === null && <li>no name yet</li>}
      {site && (
        <li>
          <a href={`/?show=devices&site=${encodeURIComponent(site)}`}>{site}</a>
        </li>
      )}
      <li>{formatCounted(sensors.length, 'sensor')}</li>
      <li>
        {device.last_seen === null ? 'newest sample' : 'last seen'} <LastSeen device={device} />
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

/** Renders the time of the last message. The time comes from live values, because they are newer than the answer of the API. */
function LastSeen({ device: { device_id, state, last_seen, sensors } }: { device: DeviceInfo }) {
  const { live, clock } = useServices();
  const now = clock.time.value;
  const newest = sensors.map((sensor) => live.sensor(keyOf({ ...sensor, device_id }))?.item ?? sensor);
  return <Age ts={lastSeenAt(last_seen, newest, now)} isExpected={state !== 'not_live'} isAgo />;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function DeviceMissing({ device }: { device: string }) {
  const isName = !UUID.test(device);
  return (
    <Notice isPage title={`There is no device “${device}”`} tone="warn">
      <p>
        It was retired, or the address is mistyped. A device appears here by itself with its first message.
      </p>
      <Slot name="missingDevice" device={device} />
      <p class="notice-actions">
        {isName && (
          <a class="button" href={`/?show=devices&name=${encodeURIComponent(device)}`}>
            Search devices for this name
          </a>
        )}
        <a class="button" href="/">
          To the fleet
        </a>
      </p>
    </Notice>
  );
}

export const STATE_WORDS = { online: 'Online', offline: 'Offline', not_live: 'Not live' };

/** @param props `asOf`: time of the last known state as text; `isOld`: the state may have changed, so it is gray */
export const DeviceState = ({
  state,
  asOf = null,
  isOld = asOf !== null,
}: {
  state: Presence;
  asOf?: string | null;
  isOld?: boolean;
}) => (
  <span class="state" data-state={state} data-stale={isOld}>
    {STATE_WORDS[state]}
    {asOf && ` at ${asOf}`}
  </span>
);
