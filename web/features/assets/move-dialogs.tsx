import { useId, useState } from 'preact/hooks';
import { useServices } from '../../state/hooks.ts';
import { Field } from '../shared/form.tsx';
import type { Asset, AssetDetail, AssetMember, Placed } from './api.ts';
import { moveAsset, placeMember } from './api.ts';
import type { DialogProps } from './dialogs.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { LEVELS } from './levels.ts';
import { ALWAYS, type Since, SinceField } from './since-field.tsx';
import { type Target, TargetField } from './target-field.tsx';

/** @returns whether an asset can be the parent: it is on a higher level, and neither the asset itself nor its present parent */
export function canHold(
  parent: Pick<Asset, 'asset_id' | 'level'>,
  asset: Pick<Asset, 'asset_id' | 'level' | 'parent_id'>,
): boolean {
  const isAbove = LEVELS.indexOf(parent.level) < LEVELS.indexOf(asset.level);
  return isAbove && parent.asset_id !== asset.parent_id && parent.asset_id !== asset.asset_id;
}

export function MoveDialog({
  asset,
  to = null,
  onDone,
  onClose,
}: DialogProps & { asset: Asset; to?: Target | null | undefined }) {
  const { client } = useServices();
  const [target, setTarget] = useState(to);
  const [since, setSince] = useState<Since>(undefined);

  async function move() {
    if (target === null || since === null) return;
    const { path } = await moveAsset(client, asset.asset_id, {
      parent: target.asset?.asset_id ?? null,
      since,
    });
    // A child that was dragged is not the asset of the page.
    onDone(`${asset.path} is moved.`, to ? undefined : path);
  }

  return (
    <EditDialog
      title={`Move ${asset.name}`}
      submit="Move"
      busyLabel="Moving…"
      isReady={target !== null && since !== null}
      onSubmit={move}
      onClose={onClose}
    >
      <p>
        Everything below it moves too.
        {since !== ALWAYS && ' Earlier measurements stay with the old parent.'}
      </p>
      <TargetField
        label="New parent"
        target={target}
        onTarget={setTarget}
        hasTop={asset.parent_id !== null}
        accepts={(parent) => canHold(parent, asset)}
      />
      <SinceField onSince={setSince} />
    </EditDialog>
  );
}

/** Maximum number of devices that the field offers. */
const MOST_OFFERED = 1000;

/** Renders the dialog that brings a device, or one of its sensors, to an asset. */
export function PlaceDialog({ asset, onDone, onClose }: DialogProps & { asset: AssetDetail }) {
  const { client, live } = useServices();
  const id = useId();
  const [device, setDevice] = useState('');
  const [sensor, setSensor] = useState('');
  const devices = [...live.fleet.devices.values()];
  const names = devices.map(({ name }) => name).sort();
  const known = devices.find(({ name, id: ofDevice }) => name === device || ofDevice === device);

  async function place() {
    const member = { device: known?.id ?? device.trim(), sensor: sensor.trim() || null };
    await placeMember(client, member, { asset: asset.asset_id });
    onDone(`${sensor.trim() || device.trim()} is at ${asset.name}.`);
  }

  return (
    <EditDialog
      title={`Place a device at ${asset.name}`}
      submit="Place"
      busyLabel="Placing…"
      isReady={device.trim() !== ''}
      onSubmit={place}
      onClose={onClose}
    >
      <Field
        label="Device: its name or its id"
        value={device}
        onValue={setDevice}
        list={`${id}-devices`}
        isFocused
        required
      />
      <Options id={`${id}-devices`} names={names} />
      <Field
        label="Sensor, if only one sensor of the device is here"
        value={sensor}
        onValue={setSensor}
        list={`${id}-sensors`}
      />
      <Options id={`${id}-sensors`} names={known?.sensors.map(({ name }) => name) ?? []} />
      <p class="small" role="status">
        {device.trim() !== '' && !known && live.fleet.holdsAll()
          ? 'No device with this name or id has sent yet. It is here from its first message on.'
          : ''}
      </p>
      <p class="small">
        The first place counts for all its time, a later one from this hour on. A <code>site</code> in its
        birth messages does not move it any more.
      </p>
    </EditDialog>
  );
}

const Options = ({ id, names }: { id: string; names: string[] }) => (
  <datalist id={id}>
    {names.slice(0, MOST_OFFERED).map((name) => (
      <option key={name} value={name} />
    ))}
  </datalist>
);

/** Renders the dialog that moves a device or a sensor to another asset. */
export function ReplaceDialog({
  member,
  ...props
}: DialogProps & { member: AssetMember; to?: Target | undefined }) {
  const { device_id, sensor_id, device, sensor } = member;
  return (
    <PlacementDialog
      member={{ device: device_id, sensor: sensor_id }}
      name={sensor ?? sensor_id ?? device ?? device_id}
      present={member.asset_id}
      {...props}
    />
  );
}

/** @param props `present`: id of the asset where the device or sensor is now; null: nowhere; `to`: the proposed place */
export function PlacementDialog({
  member,
  name,
  present,
  to = null,
  onDone,
  onClose,
}: Pick<DialogProps, 'onClose'> & {
  member: Placed;
  name: string;
  present: string | null;
  to?: Target | null | undefined;
  onDone: (message: string) => void;
}) {
  const { client } = useServices();
  const [target, setTarget] = useState(to);
  const [since, setSince] = useState<Since>(undefined);

  async function place() {
    if (!target?.asset || since === null) return;
    await placeMember(client, member, { asset: target.asset.asset_id, since });
    onDone(`${name} is at ${target.asset.path}.`);
  }

  return (
    <EditDialog
      title={present === null ? `Place ${name}` : `Move ${name}`}
      submit={present === null ? 'Place' : 'Move'}
      busyLabel="Storing…"
      isReady={target !== null && since !== null}
      onSubmit={place}
      onClose={onClose}
    >
      <TargetField
        label={present === null ? 'Asset' : 'New place'}
        target={target}
        onTarget={setTarget}
        accepts={({ asset_id }) => asset_id !== present}
      />
      {present !== null && <SinceField onSince={setSince} />}
    </EditDialog>
  );
}
