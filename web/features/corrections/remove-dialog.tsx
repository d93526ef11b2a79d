import { useState } from 'preact/hooks';
import { formatCounted } from '../../format.ts';
import { useKept, useServices } from '../../state/hooks.ts';
import { FormDialog } from '../shared/form.tsx';
import type { Removal } from './api.ts';
import { removeSamples } from './api.ts';
import { useRange, useReason, useSensorChoice } from './fields.tsx';
import { createJobs } from './job.ts';
import { partsOf, UNDO_DAYS } from './rules.ts';

export interface DialogProps {
  device: { id: string; name: string };
  /** empty: no sensor is chosen yet */
  sensor: string;
  /** the shown window */
  range: { from: number; to: number };
  /** receives a text about what is corrected */
  onDone: (text: string) => void;
  onClose: () => void;
}

/** Renders the dialog that removes samples. It first counts them. */
export function RemoveDialog({ device, sensor, range: shown, onClose }: Omit<DialogProps, 'onDone'>) {
  const { client } = useServices();
  const jobs = useKept(createJobs);
  const choice = useSensorChoice({ device: device.id, sensor, all: 'All sensors' });
  const { range, fields } = useRange(shown);
  const { reason, field: reasonField } = useReason();
  const [counted, setCounted] = useState<{ key: string; removal: Removal } | null>(null);
  const selection = { device: device.id, sensor: choice.id };
  const key = JSON.stringify([selection, range]);
  const removal = counted?.key === key ? counted.removal : null;

  async function submit() {
    if (!range) return;
    if (!removal) {
      setCounted({ key, removal: await removeSamples(client, { ...selection, ...range, dry_run: 'true' }) });
      return;
    }
    const parts = partsOf(range, removal.samples).map((part) => async (signal: AbortSignal) => {
      const { samples } = await removeSamples(client, { ...selection, ...part, reason }, signal);
      return samples;
    });
    jobs.start({
      title: `Remove values of ${device.name}${choice.id === '' ? '' : ` ${choice.name}`}`,
      past: 'removed',
      prepare: async () => parts,
    });
    onClose();
  }

  return (
    <FormDialog
      title={`Remove values of ${device.name}`}
      submit={removal ? `Remove ${formatCounted(removal.samples, 'sample')}` : 'Count'}
      busyLabel="Counting…"
      tone={removal ? 'grave' : 'plain'}
      isReady={range !== null && removal?.samples !== 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {choice.field}
      {fields}
      {reasonField}
      <div role="status">
        {removal && (
          <p>
            {removal.samples === 0 ? (
              'No sample is stored in this range.'
            ) : (
              <>
                <strong>{formatCounted(removal.samples, 'sample')}</strong> of{' '}
                {formatCounted(removal.sensors, 'sensor')} will be removed.
              </>
            )}
          </p>
        )}
      </div>
      <ul class="dialog-list">
        <li>No reader shows them from then on. You can undo it for {UNDO_DAYS} days.</li>
        <li>
          The disk has their bytes for longer, snapshots and backups until you delete them:{' '}
          <a
            class="link"
            href="/docs/how-to/correct-measurements#when-removed-values-leave-the-disk"
            target="_blank"
            rel="noreferrer"
          >
            when removed values leave the disk
          </a>
          .
        </li>
      </ul>
    </FormDialog>
  );
}
