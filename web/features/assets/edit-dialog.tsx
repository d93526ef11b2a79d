import type { ComponentProps } from 'preact';
import { useId } from 'preact/hooks';
import { FormDialog } from '../shared/form.tsx';
import { editWords } from './words.ts';

/** Renders a dialog of an edit of the tree, whose problems are in its words. */
export const EditDialog = (props: ComponentProps<typeof FormDialog>) => (
  <FormDialog words={editWords} {...props} />
);

/** Renders an edit that cannot be undone by another one. */
export const IrreversibleEditDialog = (props: ComponentProps<typeof FormDialog>) => (
  <EditDialog tone="grave" isCareful {...props} />
);

/** Renders a field that takes a file. */
export function FileField({
  label,
  accept,
  onFile,
}: {
  label: string;
  accept: string;
  onFile: (file: File | null) => void;
}) {
  const id = useId();
  return (
    <div class="dialog-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="asset-file"
        type="file"
        accept={accept}
        onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
      />
    </div>
  );
}
