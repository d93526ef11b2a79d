import type { ComponentChildren } from 'preact';
import { keyOf } from '../../api/stream/index.ts';
import type { LatestItem } from '../../api/types.ts';
import { hueOf } from '../../format.ts';
import { Age, TypeDot, Value } from '../../kit/figure.tsx';
import { Notice, OutdatedNote } from '../../kit/notice.tsx';
import { useSensorActions, useValueNote } from '../../kit/slots.tsx';
import { deviceHref } from '../../routes.ts';
import { useServices } from '../../state/hooks.ts';
import type { Outdated } from '../../state/sensor.ts';
import { outdatedOf, useOfflineAt } from '../../state/sensor.ts';
import type { Stale } from '../../state/verdict.ts';

export function SensorTitle({
  name,
  label,
  item,
  recent,
  intervalMs,
  stale,
}: {
  name: string;
  label: string | null;
  item: LatestItem | null;
  recent: { ts: number; value: number }[];
  intervalMs: number | null;
  stale: Stale | null;
}) {
  return (
    <div class="title">
      <div>
        <h1>
          <TypeDot type={item?.type ?? null} />
          {name}
        </h1>
        {label && <p class="title-label">{label}</p>}
        <ul class="facts">
          {item && item.name === null && <li>no name yet</li>}
          <li>{item?.type ?? 'no type yet'}</li>
          {item?.site && (
            <li>
              <a href={`/?site=${encodeURIComponent(item.site)}`}>{item.site}</a>
            </li>
          )}
          {item && <Actions item={item} />}
        </ul>
      </div>
      {item ? (
        <Now key={keyOf(item)} item={item} recent={recent} intervalMs={intervalMs} stale={stale} />
      ) : (
        <NowBlock item={null} recent={recent} outdated={null} />
      )}
    </div>
  );
}

const Actions = ({ item }: { item: LatestItem }) =>
  useSensorActions().map(({ label, Button }) => (
    <li key={label}>
      <Button item={item} />
    </li>
  ));

function Now({
  item,
  recent,
  intervalMs,
  stale,
}: {
  item: LatestItem;
  recent: { ts: number; value: number }[];
  intervalMs: number | null;
  stale: Stale | null;
}) {
  const { clock } = useServices();
  const ValueNote = useValueNote() ?? OutdatedNote;
  const now = clock.time.value;
  const offlineAt = useOfflineAt(item.device_id);
  const at = Date.parse(item.ts ?? '');
  const facts = { at, intervalMs, gapMs: gapOf(recent), offlineAt, stale, now };
  const outdated = item.ts === null ? null : outdatedOf(facts);
  return (
    <NowBlock item={item} recent={recent} outdated={outdated}>
      <ValueNote item={item} recent={recent} outdated={outdated} />
    </NowBlock>
  );
}

/** @returns median time between two values in ms, because a page that nobody sees gets no values */
function gapOf(recent: { ts: number }[]): number {
  const gaps = recent.slice(1).map(({ ts }, index) => ts - (recent[index]?.ts ?? ts));
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}

const NowBlock = ({
  item,
  recent,
  outdated,
  children,
}: {
  item: LatestItem | null;
  recent: { ts: number; value: number }[];
  outdated: Outdated | null;
  children?: ComponentChildren;
}) => (
  <div class="now-block" data-stale={outdated !== null}>
    <p class={`now hue-${hueOf(item?.type ?? null)}`}>
      <Value
        value={item?.value ?? null}
        unit={item?.unit ?? null}
        ts={item?.ts ?? null}
        name={item?.name ?? null}
        type={item?.type ?? null}
        recent={recent}
      />
      <Age ts={item?.ts ?? null} intervalMs={item?.interval_ms} />
    </p>
    {children}
  </div>
);

export const SensorMissing = ({ sensor, device }: { sensor: string; device: string }) => (
  <Notice isPage title={`There is no sensor “${sensor}” of the device “${device}”`} tone="warn">
    <p>
      The address is mistyped, or the device was retired. A sensor appears here with its first measurement.
    </p>
    <p class="notice-actions">
      <a class="button" href={deviceHref(device)}>
        To the device
      </a>
      <a class="button" href="/">
        To the fleet
      </a>
    </p>
  </Notice>
);
