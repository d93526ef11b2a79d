import { useEffect, useMemo } from 'preact/hooks';
import { formatCounted, NOTHING } from '../../format.ts';
import { DeviceState } from '../../kit/device-title.tsx';
import { Pager, useNumberedPages } from '../../kit/list-controls.tsx';
import { SensorTable } from '../../kit/sensor-table.tsx';
import { Slot } from '../../kit/slots.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, sensorHref } from '../../routes.ts';
import { SILENT } from '../../state/cells.ts';
import { useServices } from '../../state/hooks.ts';
import { itemOf, sortSensors, UNSORTED } from '../../state/lists.ts';
import { useMay } from '../../state/session.ts';
import type { AssetDetail, AssetMember } from './api.ts';
import { sensorsOf } from './condition.ts';
import type { Action } from './dialogs.tsx';
import { useDrag } from './drag.ts';
import type { Conditions } from './use-tree.ts';

const ROWS = 25;

/** Renders the devices and sensors at the asset itself. */
export function Members({
  asset,
  members,
  conditions,
  onAct,
}: {
  asset: AssetDetail;
  members: AssetMember[];
  conditions: Conditions;
  onAct: (action: Action) => void;
}) {
  const { router } = useServices();
  const may = useMay('admin');
  const number = Math.max(1, Number(router.place.value.query.get('page')) || 1);
  const pages = useNumberedPages({ number, total: members.length, rows: ROWS, top: 'members' });
  const sorted = useMemo(
    () => members.toSorted((a, b) => labelOf(a).localeCompare(labelOf(b), undefined, { numeric: true })),
    [members],
  );
  const shown = sorted.slice((number - 1) * ROWS, number * ROWS);
  const hasBelow = conditions.whole.devices + conditions.whole.sensors > 0;
  return (
    <>
      <section class="panel" aria-labelledby="members-title" id="members">
        <div class="asset-head">
          <h2 id="members-title">Devices and sensors here</h2>
          {may && (
            <button type="button" class="button" onClick={() => onAct({ kind: 'place', asset })}>
              Place a device…
            </button>
          )}
        </div>
        {members.length === 0 ? (
          <p class="none">{hasBelow ? 'None directly here, only further down.' : 'None yet.'}</p>
        ) : (
          <MemberTable members={shown} may={may} onAct={onAct} />
        )}
        {members.length > ROWS && <Pager what="member" shown={shown.length} {...pages} />}
      </section>
      {conditions.isKnown && shown.length > 0 && <Values members={shown} />}
    </>
  );
}

const labelOf = ({ device, device_id, sensor }: AssetMember) => `${device ?? device_id}/${sensor ?? ''}`;

function MemberTable({
  members,
  may,
  onAct,
}: {
  members: AssetMember[];
  may: boolean;
  onAct: (action: Action) => void;
}) {
  const { source } = useDrag();
  return (
    <Table
      class="plain stacks"
      caption="Devices and sensors here"
      rows={members}
      rowAttributes={(member) => source({ kind: 'member', member })}
      keyOf={({ device_id, sensor_id }) => `${device_id}/${sensor_id}`}
      columns={[
        { label: 'Name', isName: true, class: 'whole', cell: (member) => <NameLinks member={member} /> },
        { label: 'State', class: 'whole', width: '18rem', cell: (member) => <MemberState member={member} /> },
        { label: 'Sensors', width: '8rem', cell: (member) => <SensorCount member={member} /> },
        may && {
          label: 'Actions',
          isQuiet: true,
          class: 'col-actions whole',
          width: '15rem',
          cell: (member) => (
            <span class="asset-actions">
              <button type="button" class="button" onClick={() => onAct({ kind: 'replace', member })}>
                Move…<span class="visually-hidden"> {labelOf(member)}</span>
              </button>
              <button type="button" class="button" onClick={() => onAct({ kind: 'remove', member })}>
                Take away…<span class="visually-hidden"> {labelOf(member)}</span>
              </button>
            </span>
          ),
        },
      ]}
    />
  );
}

function NameLinks({ member: { device_id, device, sensor_id, sensor } }: { member: AssetMember }) {
  const ofDevice = (
    <a class="link" href={deviceHref(device_id, device)}>
      {device ?? device_id}
    </a>
  );
  if (sensor_id === null) return ofDevice;
  return (
    <>
      <a class="link" href={sensorHref(device_id, sensor_id, { device, sensor })}>
        {sensor ?? sensor_id}
      </a>{' '}
      <span class="quiet">of</span> {ofDevice}
    </>
  );
}

function MemberState({ member }: { member: AssetMember }) {
  const { live } = useServices();
  const { device_id, sensor_id } = member;
  const device = live.fleet.devices.get(device_id);
  const silent = sensorsOf(member, live.fleet).filter(({ cellState }) => cellState === SILENT).length;
  if (!device) return <span class="quiet">{NOTHING}</span>;
  return (
    <span class="asset-member-state">
      <DeviceState state={device.presence} />
      {silent > 0 && (
        <span class="asset-condition" data-tone="warn">
          {sensor_id === null ? `${formatCounted(silent, 'sensor')} silent` : 'silent'}
        </span>
      )}
      {sensor_id === null && (
        <Slot name="deviceMark" device={device_id} isOnline={device.presence === 'online'} isFact={false} />
      )}
    </span>
  );
}

function SensorCount({ member }: { member: AssetMember }) {
  const { live } = useServices();
  const count = sensorsOf(member, live.fleet).length;
  if (member.sensor_id !== null) return null;
  return <>{formatCounted(count, 'sensor')}</>;
}

/** Maximum number of sensors whose newest values are listed. */
const MOST_VALUES = 50;

function Values({ members }: { members: AssetMember[] }) {
  const { live } = useServices();
  const structure = live.fleet.structure();
  const items = useMemo(
    () =>
      sortSensors(members.flatMap((member) => sensorsOf(member, live.fleet)))
        .slice(0, MOST_VALUES)
        .map(itemOf),
    [live, members.map(labelOf).join('\n'), structure],
  );
  useEffect(() => live.seed(items), [live, items]);
  if (items.length === 0) return null;
  return (
    <section class="panel" aria-label="Newest values">
      <SensorTable caption="Newest values" items={items} sorting={UNSORTED} />
    </section>
  );
}
