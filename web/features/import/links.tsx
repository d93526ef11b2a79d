import { useMay } from '../../state/session.ts';

export function ImportButton() {
  const may = useMay('ingest');
  if (!may) return null;
  return (
    <a class="button" href="/import">
      Import a file…
    </a>
  );
}

export function ImportHint() {
  const may = useMay('ingest');
  if (!may) return null;
  return (
    <p>
      Do you have measurements in files?{' '}
      <a class="link" href="/import">
        Import a CSV, NDJSON or Parquet file
      </a>
    </p>
  );
}
