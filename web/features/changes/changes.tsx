import type { Zone } from '../../format.ts';
import {
  decimalsFor,
  formatCount,
  formatCounted,
  formatNumber,
  formatTime,
  formatZone,
} from '../../format.ts';
import { DeviceState } from '../../kit/device-title.tsx';
import { OtherZone } from '../../kit/figure.tsx';
import { ListSwitch } from '../../kit/list-controls.tsx';
import { ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { useSensorActions } from '../../kit/slots.tsx';
import type { Column } from '../../kit/table.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, itemHref } from '../../routes.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import '../shared/tables.css';
import './changes.css';
import { keyOf } from '../../api/stream/index.ts';
import type { Stale } from '../../state/verdict.ts';
import { useStale } from '../../state/verdict.ts';
import type { UnitChoices } from '../../units.ts';
import { scaleFor, shownText, toShown } from '../../units.ts';
import type { ChangedDevice, ChangedSensor } from './rules.ts';
import { together } from './rules.ts';
import type { Changes } from './use-changes.ts';
import { useFleetChanges } from './use-changes.ts';

/** Renders the changes of the last hour: sensors whose values left their usual range or returned, and devices that came or went. */
export function ChangesView() {
  const { changes, data, problem, slow, reload } = useFleetChanges();
  const stale = useStale();
  useTitle('Changes');
  const isSilent = changes.sensorsRead + changes.devicesRead === 0;
  return (
    <>
      <div class="title">
        <h1>What changed in the last hour</h1>
      </div>
      <section class="panel" aria-label="Changes" aria-busy={data === null}>
        <div class="list-head">
          <ListSwitch shown="changes" />
        </div>
        {slow && isSilent && <SlowLine />}
        {problem && <ProblemNotice problem={problem} onRetry={reload} />}
        {!(problem && isSilent) && (
          <div class="changes">
            <Devices changes={changes} stale={stale} />
            <Sensors changes={changes} stale={stale} />
          </div>
        )}
      </section>
    </>
  );
}

type Props = {
  changes: Changes;
  stale: Stale | null;
};

function Sensors({ changes, stale }: Props) {
  const { preferences } = useServices();
  const { zone, units } = preferences.choice.value;
  const actions = useSensorActions();
  const { sensors, sensorsRead, sensorsToRead, sensorsTotal, unjudged } = changes;
  return (
    <div>
      <h2>Values that left their range or returned</h2>
      <p class="changes-note small">
        The range is that of the five hours before, in averages of five minutes.{' '}
        <PartRead read={sensorsRead} toRead={sensorsToRead} total={sensorsTotal} what="sensor" />
        {unjudged > 0 && ` ${formatCounted(unjudged, 'sensor has', 'sensors have')} too little history.`}
      </p>
      {sensors.length === 0 ? (
        sensorsRead === sensorsToRead && (
          <p class="none">
            {unchangedText(changes, zone)}
            {untilText(stale, zone)}
          </p>
        )
      ) : (
        <Table
          class="plain stacks"
          caption="Sensors whose values left their range or returned"
          rows={sensors}
          keyOf={({ item }) => keyOf(item)}
          columns={[
            {
              label: 'Sensor',
              class: 'wraps',
              isName: true,
              cell: ({ item }) => (
                <>
                  <a class="link" href={`${itemHref(item)}?range=6h`}>
                    {item.name ?? item.sensor_id}
                  </a>{' '}
                  <span class="quiet">{item.device ?? item.device_id}</span>
                </>
              ),
            },
            { label: 'Change', class: 'wraps whole', cell: (changed) => changeText(changed, units) },
            { label: 'Range', class: 'changes-range', cell: (changed) => rangeText(changed, units) },
            lastAt(zone),
            ...actions.map(({ label, Button }) => ({
              label,
              isQuiet: true,
              class: 'col-action',
              cell: ({ item }: ChangedSensor) => <Button item={item} />,
            })),
          ]}
        />
      )}
    </div>
  );
}

const lastAt = (zone: Zone): Column<{ change: { at: number } }> => ({
  label: `Last at ${formatZone(zone, Date.now())}`,
  class: 'changes-time',
  cell: ({ change: { at } }) => (
    <>
      {formatTime(at, zone)}
      <OtherZone ts={at} />
    </>
  ),
});

/** Returns the time of the values as text while nothing is stored, because later changes are unknown. */
const untilText = (stale: Stale | null, zone: Zone): string =>
  stale ? ` Values are those of ${formatTime(stale.since, zone)}.` : '';

function unchangedText({ sensorsRead, unjudged, judgedFrom }: Changes, zone: Zone): string {
  if (unjudged < sensorsRead)
    return unjudged > 0 ? 'All others stayed in their range.' : 'All of them stayed in their range.';
  const from = judgedFrom === null ? '' : ` The first may have one from ${formatTime(judgedFrom, zone)} on.`;
  return `No sensor has a range yet: it needs an hour of samples before the last hour.${from}`;
}

function changeText({ item, change }: ChangedSensor, choices: UnitChoices): string {
  const { crossings, isOut, farthest } = change;
  const scale = scaleOf({ item, change }, choices);
  const value = shownText(scale, toShown(scale, farthest));
  if (crossings === 1) return `Left it, as far as ${value}`;
  return `${isOut ? 'Out of it now' : 'Back in it'}, ${formatCounted(crossings, 'change')}, as far as ${value}`;
}

function rangeText(changed: ChangedSensor, choices: UnitChoices): string {
  const scale = scaleOf(changed, choices);
  const [low, high] = [toShown(scale, changed.change.low), toShown(scale, changed.change.high)];
  if (scale.timeMs !== null) return `${shownText(scale, low)} to ${shownText(scale, high)}`;
  const decimals = decimalsFor([low, high]);
  return `${formatNumber(low, decimals)} to ${formatNumber(high, decimals)} ${scale.unit}`.trim();
}

/** Returns the common scale of value and range in a row. */
const scaleOf = ({ item, change: { low, high, farthest } }: ChangedSensor, choices: UnitChoices) =>
  scaleFor(item.unit, [low, high, farthest], choices);

function Devices({ changes, stale }: Props) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { devices, devicesRead, devicesToRead, devicesTotal, unwatched } = changes;
  const asOf = stale && formatTime(stale.since, zone);
  return (
    <div>
      <h2>Devices that came or went</h2>
      <p class="changes-note small">
        <PartRead read={devicesRead} toRead={devicesToRead} total={devicesTotal} what="device" />
        {unwatched.map(
          ({ from, to }) =>
            ` Millrace received nothing from ${formatTime(Date.parse(from), zone)} to ${formatTime(Date.parse(to), zone)}.`,
        )}
      </p>
      {devices.length === 0 ? (
        devicesRead === devicesToRead && <p class="none">None came or went.{untilText(stale, zone)}</p>
      ) : (
        <Table
          class="plain stacks"
          caption="Devices that came or went"
          rows={together(devices).map((group) => ({ ...group[0], group }))}
          keyOf={({ device }) => device.device_id}
          extra={({ group, change }) =>
            group.length > 1
              ? { isAlone: true, content: <Group group={group} at={formatTime(change.at, zone)} /> }
              : null
          }
          columns={[
            {
              label: 'Device',
              class: 'wraps',
              isName: true,
              cell: ({ device }) => <DeviceLink device={device} />,
            },
            {
              label: 'Now',
              cell: ({ change }) => (
                <DeviceState state={change.isOnline ? 'online' : 'offline'} asOf={asOf} />
              ),
            },
            {
              label: 'Changes',
              class: 'changes-times',
              cell: ({ change }) => formatCounted(change.times, 'change'),
            },
            lastAt(zone),
          ]}
        />
      )}
    </div>
  );
}

/** Renders several devices that came or went together. */
const Group = ({ group, at }: { group: [ChangedDevice, ...ChangedDevice[]]; at: string }) => (
  <details class="changes-group">
    <summary>
      {formatCounted(group.length, 'device')} {group[0].change.isOnline ? 'came online' : 'went offline'} at{' '}
      {at}
    </summary>
    <ul>
      {group.map((changed) => (
        <li key={changed.device.device_id}>
          <DeviceLink device={changed.device} />
        </li>
      ))}
    </ul>
  </details>
);

const DeviceLink = ({ device: { device_id, name, site } }: Pick<ChangedDevice, 'device'>) => (
  <>
    <a class="link" href={deviceHref(device_id, name)}>
      {name ?? device_id}
    </a>{' '}
    <span class="quiet">{site}</span>
  </>
);

/** The order in which sensors and devices are checked, as text for a fleet that is too large to check completely. */
const ORDERS = { sensor: 'the most unusual now first', device: 'those that are offline first' };

/** Renders a note with the number of checked items, because unchecked items may have changes. */
function PartRead({
  read,
  toRead,
  total,
  what,
}: {
  read: number;
  toRead: number | null;
  total: number;
  what: keyof typeof ORDERS;
}) {
  if (toRead === null) return <>Reading the last six hours…</>;
  if (read < toRead) return <>{`Looked at ${formatCount(read)} of ${formatCounted(toRead, what)} so far…`}</>;
  return total > read ? (
    <>
      Looked at {formatCounted(read, what)} of {formatCount(total)}, {ORDERS[what]}.
    </>
  ) : (
    <>Looked at {formatCounted(read, what)}.</>
  );
}
