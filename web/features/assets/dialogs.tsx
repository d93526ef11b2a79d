import { useState } from 'preact/hooks';
import { useServices } from '../../state/hooks.ts';
import { Field } from '../shared/form.tsx';
import { parentOf } from './address.ts';
import type { Asset, AssetDetail, AssetMember, Level } from './api.ts';
import { changeAsset, createAsset, removeMember, retireAsset } from './api.ts';
import { EditDialog, IrreversibleEditDialog } from './edit-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { levelsUnder } from './levels.ts';
import { MoveDialog, PlaceDialog, ReplaceDialog } from './move-dialogs.tsx';
import { PictureDialog, RemovePlanDialog } from './plan-dialogs.tsx';
import type { Target } from './target-field.tsx';

/** What a dialog does. */
export type Action =
  | { kind: 'create'; parent: AssetDetail | null }
  | { kind: 'change' | 'retire' | 'place' | 'picture' | 'remove-plan'; asset: AssetDetail }
  | { kind: 'move'; asset: Asset; to?: Target }
  | { kind: 'replace'; member: AssetMember; to?: Target }
  | { kind: 'remove'; member: AssetMember }
  | { kind: 'import' };

export interface DialogProps {
  /** @param next path of the asset to show; undefined: the page stays */
  onDone: (message: string, next?: string | null) => void;
  onClose: () => void;
}

export function ActionDialog({ action, ...props }: DialogProps & { action: Action }) {
  switch (action.kind) {
    case 'create':
      return <CreateDialog parent={action.parent} {...props} />;
    case 'change':
      return <ChangeDialog asset={action.asset} {...props} />;
    case 'move':
      return <MoveDialog asset={action.asset} to={action.to} {...props} />;
    case 'retire':
      return <RetireDialog asset={action.asset} {...props} />;
    case 'place':
      return <PlaceDialog asset={action.asset} {...props} />;
    case 'replace':
      return <ReplaceDialog member={action.member} to={action.to} {...props} />;
    case 'remove':
      return <RemoveDialog member={action.member} {...props} />;
    case 'picture':
      return <PictureDialog asset={action.asset} {...props} />;
    case 'remove-plan':
      return <RemovePlanDialog asset={action.asset} {...props} />;
    case 'import':
      return <ImportDialog {...props} />;
  }
}

const optionsOf = (levels: readonly Level[]) => levels.map((level) => [level, level] as const);

function CreateDialog({ parent, onDone, onClose }: DialogProps & { parent: AssetDetail | null }) {
  const { client } = useServices();
  const levels = levelsUnder(parent?.level ?? null);
  const [name, setName] = useState('');
  const [level, setLevel] = useState<Level>(levels[0] ?? 'machine');

  async function create() {
    const { path } = await createAsset(client, {
      name: name.trim(),
      level,
      parent: parent?.asset_id ?? null,
    });
    onDone(`${path} is created.`);
  }

  return (
    <EditDialog
      title={parent ? `Create an asset in ${parent.name}` : 'Create an asset'}
      submit="Create"
      busyLabel="Creating…"
      isReady={name.trim() !== ''}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} />
      <Field
        label="Level"
        value={level}
        options={optionsOf(levels)}
        onValue={(value) => setLevel(value as Level)}
      />
    </EditDialog>
  );
}

const NameField = ({ name, onName }: { name: string; onName: (name: string) => void }) => (
  <Field label="Name, without slashes" value={name} onValue={onName} maxlength={128} isFocused required />
);

function ChangeDialog({ asset, onDone, onClose }: DialogProps & { asset: AssetDetail }) {
  const { client } = useServices();
  const [name, setName] = useState(asset.name);
  const [level, setLevel] = useState<Level>(asset.level);
  const above = asset.ancestors.at(-1)?.level ?? null;
  const change = {
    ...(name.trim() !== asset.name && { name: name.trim() }),
    ...(level !== asset.level && { level }),
  };

  async function store() {
    const { path } = await changeAsset(client, asset.asset_id, change);
    onDone(`${asset.path} is changed.`, path);
  }

  return (
    <EditDialog
      title={`Rename ${asset.name}`}
      submit="Store"
      busyLabel="Storing…"
      isReady={name.trim() !== '' && Object.keys(change).length > 0}
      onSubmit={store}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} />
      <Field
        label="Level"
        value={level}
        options={optionsOf(levelsUnder(above))}
        onValue={(value) => setLevel(value as Level)}
      />
    </EditDialog>
  );
}

function RetireDialog({ asset, onDone, onClose }: DialogProps & { asset: AssetDetail }) {
  const { client } = useServices();

  async function retire() {
    await retireAsset(client, asset.asset_id);
    onDone(`${asset.path} is retired.`, parentOf(asset.path));
  }

  return (
    <IrreversibleEditDialog
      title={`Retire ${asset.name}?`}
      submit="Retire"
      busyLabel="Retiring…"
      onSubmit={retire}
      onClose={onClose}
    >
      <p>It is gone from the tree, and its past stays. Another asset may then have its name.</p>
    </IrreversibleEditDialog>
  );
}

function RemoveDialog({ member, onDone, onClose }: DialogProps & { member: AssetMember }) {
  const { client } = useServices();
  const { device_id, sensor_id } = member;
  const name = member.sensor ?? sensor_id ?? member.device ?? device_id;

  async function remove() {
    await removeMember(client, { device: device_id, sensor: sensor_id });
    onDone(`${name} is taken away.`);
  }

  return (
    <IrreversibleEditDialog
      title={`Take ${name} away from ${member.path}?`}
      submit="Take away"
      busyLabel="Taking away…"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        {sensor_id === null
          ? 'From this hour on it has no place. What it measured before stays here.'
          : 'From this hour on the sensor is where its device is. What it measured before stays here.'}
      </p>
    </IrreversibleEditDialog>
  );
}
