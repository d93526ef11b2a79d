import { useState } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import { useTitle } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { Field } from '../shared/form.tsx';
import { FileOptions, openQuestions, Questions } from './options.tsx';
import { Preview, RunResult } from './results.tsx';
import { useImport } from './use-import.ts';
import '../shared/tables.css';
import './import.css';

/** Renders the view that imports a file of old measurements. It begins with a test, which stores nothing. */
export function ImportView() {
  const mayImport = useMay('ingest');
  useFiguresAlone();
  useTitle('Import');
  const { file, device, options, proposal, preview, run, abort, type, change, choose, start } =
    useImport(mayImport);
  const isRunning = run?.state === 'running';
  // Without an answer, a time without a zone would be stored as UTC, for example.
  const questions = openQuestions(proposal, { ...options, device });
  const isAsked = type !== null && questions.length > 0;
  const isZoneOpen = questions.some(({ option }) => option === 'zone');
  return (
    <>
      <div class="title">
        <div>
          <h1>Import</h1>
          <p class="lead">
            Stores a CSV, NDJSON or Parquet file of old measurements at their original times.
          </p>
        </div>
      </div>
      <section class="panel import" aria-label="Import a file">
        <DropArea file={file} isLocked={isRunning} onFile={(next) => void choose(next)} />
        {file && !type && (
          <p class="import-problem" role="alert">
            The name must end with .csv, .tsv, .ndjson, .jsonl or .parquet.
          </p>
        )}
        {!mayImport && <p class="import-problem">{scopeText('Import', 'ingest')}</p>}
        <form class="import-form" onSubmit={(event: Event) => event.preventDefault()}>
          <Field
            class="field"
            id="import-device"
            label="Device"
            placeholder="if the file does not name it"
            value={device}
            onValue={(value) => change({ device: value.trim() })}
          />
        </form>
        {file && type && (
          <>
            <Questions
              questions={questions}
              onAnswer={(option, value) => change({ options: { ...options, [option]: value }, run: null })}
            />
            <FileOptions
              type={type}
              columns={proposal?.columns ?? []}
              options={options}
              onChange={(next) => change({ options: next, run: null })}
            />
          </>
        )}
        <div class="import-form">
          <button
            type="button"
            class="button"
            disabled={!type || isRunning || !mayImport}
            onClick={() => void start({ isTest: true, device })}
          >
            Test
          </button>
          <button
            type="button"
            class="button main-button"
            disabled={!type || isRunning || !mayImport || isAsked}
            onClick={() => void start({ isTest: false, device })}
          >
            Import
          </button>
          {isRunning && (
            <button type="button" class="button quiet-button" onClick={() => abort?.abort()}>
              Stop
            </button>
          )}
        </div>
        {isAsked && <p class="import-problem">Answer the questions above before the import.</p>}
        {!run && preview && <Preview preview={preview} zone={options['zone']} isZoneOpen={isZoneOpen} />}
        {run && (
          <RunResult
            run={run}
            file={file}
            zone={options['zone']}
            isZoneOpen={isZoneOpen}
            onRetry={() => void start(run)}
          />
        )}
      </section>
    </>
  );
}

function DropArea({
  file,
  isLocked,
  onFile,
}: {
  file: File | null;
  isLocked: boolean;
  onFile: (file: File | null | undefined) => void;
}) {
  const [isOver, setIsOver] = useState(false);
  return (
    <label
      class="import-drop"
      data-over={isOver}
      onDragOver={(event: DragEvent) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        setIsOver(false);
        if (!isLocked) onFile(event.dataTransfer?.files[0]);
      }}
    >
      <input
        type="file"
        class="visually-hidden"
        accept=".csv,.tsv,.ndjson,.jsonl,.parquet"
        disabled={isLocked}
        onChange={(event) => onFile(event.currentTarget.files?.[0])}
      />
      {file ? (
        <span>
          <b>{file.name}</b>, {formatCount(Math.ceil(file.size / 1024))} KB. Click or drop to choose another.
        </span>
      ) : (
        <span>Drop a file here, or click to choose one.</span>
      )}
    </label>
  );
}
