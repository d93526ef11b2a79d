import { useCallback, useMemo } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import { DeviceMissing, DeviceTitle } from '../../kit/device-title.tsx';
import { FilterField } from '../../kit/list-controls.tsx';
import { Breadcrumbs } from '../../kit/navigation.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { COLUMNS_OF_DEVICE, SensorTable } from '../../kit/sensor-table.tsx';
import { DeviceActions, Slot, useDeviceParts } from '../../kit/slots.tsx';
import { withQuery } from '../../routes.ts';
import { chooseSensors, needsChoice, useDevice } from '../../state/device.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import { sortingOf, UNSORTED } from '../../state/lists.ts';
import { useTails } from '../../state/sensor.ts';
import type { Stale } from '../../state/verdict.ts';
import { useStale } from '../../state/verdict.ts';
import { DeviceSignals } from './device-signals.tsx';
import './device.css';
import type { DeviceInfo, LatestItem } from '../../api/types.ts';

export function DeviceView({ device: asked }: { device: string }) {
  const { device, items, missing, problem, slow, reload } = useDevice(asked);
  const stale = useStale();
  const name = device?.name ?? asked;
  useTitle(name);

  if (problem) return <ProblemNotice problem={problem} onRetry={reload} />;
  return (
    <>
      <Breadcrumbs
        steps={[
          { label: 'Fleet', href: '/' },
          { label: 'Devices', href: '/?show=devices' },
        ]}
      />
      {slow && <SlowLine />}
      {!missing && <Slot name="deviceNote" />}
      {missing ? (
        <DeviceMissing device={asked} />
      ) : (
        <DeviceTitle name={name} device={device} stale={stale}>
          {device && <DeviceActions device={device} />}
        </DeviceTitle>
      )}
      {!missing &&
        (device && items ? (
          <Known device={device} items={items} reload={reload} stale={stale} />
        ) : (
          <Waiting />
        ))}
    </>
  );
}

function Known({
  device,
  items,
  reload,
  stale,
}: {
  device: DeviceInfo;
  items: LatestItem[];
  reload: () => void;
  stale: Stale | null;
}) {
  const { router } = useServices();
  const { query } = router.place.value;
  const parts = useDeviceParts(device, { stale, reload });
  const { shown, found, more } = useMemo(() => chooseSensors(items, query), [items, query]);
  const name = device.name ?? device.device_id;
  return (
    <>
      <SensorChoice all={items.length} found={found} shown={shown.length} more={more} />
      <DeviceSignals
        device={device}
        items={shown}
        stale={stale}
        axis={parts.find(({ axis }) => axis)?.axis}
      />
      <div class="device-lists" data-stale={stale !== null || device.state !== 'online'}>
        {items.length === 0 ? <NoSensors /> : <DeviceSensors name={name} shown={shown} />}
        {parts.map(({ panel }) => panel)}
      </div>
    </>
  );
}

const Waiting = () => (
  <section class="panel" aria-label="Sensors">
    <SensorTable caption="Sensors" items={null} sorting={UNSORTED} busy expected={4} ofDevice />
  </section>
);

/** Maximum number of concurrent requests for recent values. The number is small, because the charts above need the other connections. */
const AT_ONCE = 1;

function DeviceSensors({ name, shown }: { name: string; shown: LatestItem[] }) {
  const { query } = useServices().router.place.value;
  useTails(shown, AT_ONCE);
  return (
    <section class="panel" aria-label="Sensors">
      {shown.length === 0 ? (
        <Notice title="No sensor matches">
          <p>Looked for is any part of a name, a label or a type.</p>
        </Notice>
      ) : (
        <SensorTable
          caption={`Sensors of ${name}`}
          items={shown}
          sorting={sortingOf(query, COLUMNS_OF_DEVICE)}
          ofDevice
        />
      )}
    </section>
  );
}

const NoSensors = () => (
  <section class="panel" aria-label="Sensors">
    <Notice title="This device has no sensors yet">
      <p>
        It is known by its birth or its status. Its sensors appear here by themselves, with its first
        measurement.
      </p>
    </Notice>
  </section>
);

/** Only for a device with many sensors. The address keeps the text. */
function SensorChoice({
  all,
  found,
  shown,
  more,
}: {
  all: number;
  found: number;
  shown: number;
  more: string | null;
}) {
  const { router } = useServices();
  const place = router.place.value;
  const find = place.query.get('find') ?? '';
  const change = useCallback(
    (value: string) => router.changeQuery({ find: value, shown: null }, { replace: true }),
    [router],
  );
  if (!needsChoice(all)) return null;
  return (
    <form class="sensor-choice" role="search" onSubmit={(event: Event) => event.preventDefault()}>
      <FilterField label="Sensors" placeholder="name, label or type" value={find} onChange={change} />
      <p class="panel-note small" role="status">
        {found === 0 ? 'None matches' : `${formatCount(shown)} of ${formatCount(found)}`}
      </p>
      {more && (
        <a class="button" href={withQuery(place, { shown: more })}>
          Show more
        </a>
      )}
    </form>
  );
}
