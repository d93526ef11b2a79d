import { useState } from 'preact/hooks';
import { useServices } from '../../state/hooks.ts';
import type { AssetDetail } from './api.ts';
import { removePlan, storePicture } from './api.ts';
import type { DialogProps } from './dialogs.tsx';
import { EditDialog, FileField, IrreversibleEditDialog } from './edit-dialog.tsx';

const TYPES = 'image/svg+xml,image/png,image/jpeg,image/webp';

/** Largest picture that the API takes, in KiB. */
const MOST_KIB = 512;

export function PictureDialog({ asset, onDone, onClose }: DialogProps & { asset: AssetDetail }) {
  const { client } = useServices();
  const [file, setFile] = useState<File | null>(null);
  const isTooLarge = file !== null && file.size > MOST_KIB * 1024;

  async function store() {
    if (!file) return;
    await storePicture(client, asset.asset_id, file);
    onDone(`${asset.name} has a new picture.`);
  }

  return (
    <EditDialog
      title={`Picture of ${asset.name}`}
      submit="Store"
      busyLabel="Storing…"
      isReady={file !== null && !isTooLarge}
      onSubmit={store}
      onClose={onClose}
    >
      <p>A floor plan, a drawing or a photograph. Sensors that are on the plan keep their places.</p>
      <FileField label={`SVG, PNG, JPEG or WebP, up to ${MOST_KIB} KiB`} accept={TYPES} onFile={setFile} />
      {isTooLarge && (
        <p role="alert">The file has {Math.ceil(file.size / 1024)} KiB. Export it smaller, or as WebP.</p>
      )}
    </EditDialog>
  );
}

export function RemovePlanDialog({ asset, onDone, onClose }: DialogProps & { asset: AssetDetail }) {
  const { client } = useServices();

  async function remove() {
    await removePlan(client, asset.asset_id);
    onDone(`The plan of ${asset.name} is removed.`);
  }

  return (
    <IrreversibleEditDialog
      title={`Remove the plan of ${asset.name}?`}
      submit="Remove"
      busyLabel="Removing…"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>The picture is deleted, and so are the places of sensors on it.</p>
    </IrreversibleEditDialog>
  );
}
