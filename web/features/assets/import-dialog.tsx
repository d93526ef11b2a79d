import { useState } from 'preact/hooks';
import { formatCount, formatCounted } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import type { TreeReport } from './api.ts';
import { importTree } from './api.ts';
import type { DialogProps } from './dialogs.tsx';
import { EditDialog, FileField } from './edit-dialog.tsx';

/** Renders the dialog that imports a CSV file. It first shows what the file would change. */
export function ImportDialog({ onDone, onClose }: DialogProps) {
  const { client } = useServices();
  const [file, setFile] = useState<File | null>(null);
  const [test, setTest] = useState<TreeReport | null>(null);

  async function send() {
    if (!file) return;
    if (!test) return setTest(await importTree(client, file, { isDryRun: true }));
    const { created, placed, refused } = await importTree(client, file, { isDryRun: false });
    const rest = refused > 0 ? ` ${formatCounted(refused, 'line')} refused.` : '';
    onDone(`${formatCount(created)} created, ${formatCount(placed)} placed.${rest}`);
  }

  return (
    <EditDialog
      title="Import assets"
      submit={test ? 'Import' : 'Test'}
      busyLabel={test ? 'Importing…' : 'Testing…'}
      isReady={file !== null && (test === null || test.created + test.placed > 0)}
      isWide
      onSubmit={send}
      onClose={onClose}
    >
      <p>
        A CSV file with the columns path, level, device and sensor, as the export has them. It creates missing
        assets, and places devices and sensors. It removes nothing.
      </p>
      <FileField
        label="File"
        accept=".csv,text/csv"
        onFile={(chosen) => {
          setFile(chosen);
          setTest(null);
        }}
      />
      {test && <Report report={test} />}
    </EditDialog>
  );
}

/** Maximum number of refused lines that the dialog lists. */
const MOST_LINES = 20;

function Report({ report: { created, placed, unchanged, refused, lines } }: { report: TreeReport }) {
  const bad = lines.filter(({ outcome }) => outcome === 'refused').slice(0, MOST_LINES);
  return (
    <div role="status">
      <p>
        The file would create {formatCounted(created, 'asset')}, and place {formatCount(placed)} devices and
        sensors. {formatCounted(unchanged, 'line')} would change nothing, and {formatCount(refused)} would be
        refused.
      </p>
      {bad.length > 0 && (
        <ul class="asset-refused">
          {bad.map(({ line, detail, code }) => (
            <li key={line}>
              Line {line}: {detail ?? code}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
