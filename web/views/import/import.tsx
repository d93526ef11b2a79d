import { useState } from 'preact/hooks';
import { toProblem } from '../../api/request.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { saveFile } from '../../kit/controls.tsx';
import { ProblemNotice } from '../../kit/notice.tsx';
import { deviceHref } from '../../routes.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import '../../kit/tables.css';
import './import.css';
import type { Imported, ImportedRow, RefusedLine } from '../../api/types.ts';
import type { ImportRun } from '../../state/hooks.ts';

/** Maximum number of refused lines that the page shows. The file for download has more lines. */
const MOST_SHOWN = 20;

/** Pauses in ms before a piece of the file is sent again after a temporary problem. A piece that is sent twice is stored only once. */
const RETRY_MS = [1000, 2000, 5000, 10_000, 20_000];

const BEGUN: Omit<ImportRun, 'isTest' | 'device'> = {
  state: 'running',
  share: 0,
  rows: 0,
  samples: 0,
  refused: 0,
  lines: [],
  first: [],
  problem: null,
};

/** Renders the view that imports a file of old measurements. It begins with a test, which stores nothing. */
export function ImportView() {
  const { client, importing } = useServices();
  const mayImport = useMay('ingest');
  const { file, device, run, abort } = importing.value;
  useFiguresAlone();
  useTitle('Import');
  const type = file && typeOf(file.name);

  function change(changes: Partial<typeof importing.value>) {
    importing.value = { ...importing.peek(), ...changes };
  }

  function choose(next: File | null | undefined) {
    if (next) change({ file: next, run: null });
  }

  async function start({ isTest, device }: Pick<ImportRun, 'isTest' | 'device'>) {
    // A second click may come before the buttons are drawn as disabled, so it is ignored here.
    if (!file || !type || importing.peek().run?.state === 'running') return;
    const abort = new AbortController();
    const { signal } = abort;
    let now: ImportRun = { ...BEGUN, isTest, device };
    change({ run: now, abort });
    /** Shows the progress, unless the user signed out since the start. */
    const show = (next: ImportRun) => {
      if (importing.peek().abort === abort) change({ run: next });
    };
    // An import ends with its page, so the browser asks before the page closes or reloads. Each run has its own
    // listener.
    const askFirst = (event: Event) => event.preventDefault();
    if (!isTest) window.addEventListener('beforeunload', askFirst);
    try {
      for await (const { body, end, lines } of piecesOf(file, type)) {
        const query = { device, dry_run: String(isTest) };
        const part = await withRetries(() => client.importPiece(body, type, query, signal), signal);
        now = { ...added(now, part, lines), share: end / file.size };
        show(now);
      }
      show({ ...now, state: 'done' });
    } catch (error) {
      show({ ...now, state: 'stopped', problem: signal.aborted ? null : toProblem(error) });
    } finally {
      window.removeEventListener('beforeunload', askFirst);
    }
  }

  const isRunning = run?.state === 'running';
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
        <DropArea file={file} isLocked={isRunning} onFile={choose} />
        {file && !type && (
          <p class="import-problem" role="alert">
            The name must end with .csv, .tsv, .ndjson, .jsonl or .parquet.
          </p>
        )}
        {!mayImport && <p class="import-problem">{scopeText('Import', 'ingest')}</p>}
        <form class="import-form" onSubmit={(event: Event) => event.preventDefault()}>
          <div class="field">
            <label for="import-device">Device</label>
            <input
              id="import-device"
              type="text"
              autocomplete="off"
              placeholder="if the file does not name it"
              value={device}
              onInput={(event) => change({ device: event.currentTarget.value.trim() })}
            />
          </div>
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
            disabled={!type || isRunning || !mayImport}
            onClick={() => void start({ isTest: false, device })}
          >
            Import
          </button>
          {isRunning && (
            <button type="button" class="button quiet-button" onClick={() => abort?.abort()}>
              Stop
            </button>
          )}
        </form>
        {run && <RunResult run={run} onRetry={() => void start(run)} />}
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

function RunResult({ run, onRetry }: { run: ImportRun; onRetry: () => void }) {
  const { isTest, device, state, share, rows, samples, refused, lines, first, problem } = run;
  return (
    <div class="import-result">
      {state === 'running' && (
        <progress class="import-progress" value={share} max={1} aria-label="Share of the file">
          {Math.round(share * 100)} %
        </progress>
      )}
      <p role="status">
        <b>{formatCounted(rows, 'row')}</b>: {formatCounted(samples, 'sample')}{' '}
        {isTest ? 'would be stored' : 'stored'}, {formatCount(refused)} refused
        {state === 'stopped' && '. Stopped: import the file again to go on. What is stored stays as it is'}.
        {state === 'done' && !isTest && device !== '' && samples > 0 && (
          <>
            {' '}
            <a class="link" href={deviceHref(device)}>
              Show {device}
            </a>
          </>
        )}
      </p>
      {problem && <ProblemNotice problem={problem} onRetry={onRetry} />}
      {lines.length > 0 && <RefusedLines lines={lines} />}
      {isTest && first.length > 0 && <FirstSamples first={first} />}
    </div>
  );
}

function RefusedLines({ lines }: { lines: RefusedLine[] }) {
  const save = () =>
    saveFile(
      'refused.csv',
      new Blob([
        'line,code,rule\n',
        ...lines.map(({ line, code, rule }) => `${line},${code},"${rule.replaceAll('"', '""')}"\n`),
      ]),
    );
  return (
    <table class="plain import-table">
      <caption>
        Refused lines
        <button type="button" class="button quiet-button" onClick={save}>
          Download
        </button>
      </caption>
      <thead>
        <tr>
          <th class="number import-line">Line</th>
          <th class="import-code">Code</th>
          <th>Rule</th>
        </tr>
      </thead>
      <tbody>
        {lines.slice(0, MOST_SHOWN).map(({ line, code, rule }) => (
          <tr key={`${line} ${rule}`}>
            <td class="number import-line">{line}</td>
            <td class="import-code">{code}</td>
            <td class="wraps">{rule}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const FirstSamples = ({ first }: { first: ImportedRow[] }) => (
  <table class="plain import-table">
    <caption>The first samples</caption>
    <thead>
      <tr>
        <th>Time</th>
        <th>Device</th>
        <th>Sensor</th>
        <th class="number">Value</th>
        <th class="import-code">Unit</th>
        <th>Site</th>
      </tr>
    </thead>
    <tbody>
      {first.map(({ line, device, sensor, ts, value, unit, site }) => (
        <tr key={`${line} ${sensor}`}>
          <td>{ts}</td>
          <td>{device}</td>
          <td>{sensor}</td>
          <td class="number">{value}</td>
          <td class="import-code">{unit}</td>
          <td>{site}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** @param before number of lines of the file before the piece that was sent */
function added(
  run: ImportRun,
  { rows, samples, refused, refused_lines: lines, first }: Imported,
  before: number,
): ImportRun {
  return {
    ...run,
    rows: run.rows + rows,
    samples: run.samples + samples,
    refused: run.refused + refused,
    lines: [...run.lines, ...lines.map((refusal) => ({ ...refusal, line: refusal.line + before }))],
    first: run.first.length > 0 ? run.first : first,
  };
}

async function withRetries<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pause of RETRY_MS) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted || !toProblem(error).isTemporary) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
      signal.throwIfAborted();
    }
  }
  return send();
}

/** Size in bytes of a piece of a file. Files of lines are sent in pieces, because the API must receive a request within 30 s. */
const PIECE_BYTES = 2 * 1024 * 1024;

const NEW_LINE = 10;

/** Media types of files that can be imported, by file name extension. */
const TYPES: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

/** @returns the media type of a file; null: the file cannot be imported */
export const typeOf = (name: string): string | null =>
  TYPES[name.toLowerCase().split('.').at(-1) ?? ''] ?? null;

/** A part of a file that is sent in one request. */
interface Piece {
  /** the content to send, with the line of column names if the file has one */
  body: Blob;
  /** offset of the end of the piece in the file, in bytes */
  end: number;
  /** number of lines in the file before the piece; for CSV, without the line of column names */
  lines: number;
}

/**
 * Splits a file at line ends. A quoted CSV cell must end in its line, so a piece may end after every line. A Parquet file is
 * one piece, because its footer is at the end of the file.
 */
export async function* piecesOf(
  file: Blob,
  type: string,
  pieceBytes: number = PIECE_BYTES,
): AsyncGenerator<Piece> {
  if (type === 'application/vnd.apache.parquet') {
    yield { body: file, end: file.size, lines: 0 };
    return;
  }
  const hasHead = type === 'text/csv';
  let head: BlobPart[] = [];
  let lines = 0;
  for (let begin = 0; begin < file.size; ) {
    const bytes = await lineAlignedBytes(file, begin, pieceBytes);
    yield { body: new Blob([...head, bytes], { type }), end: begin + bytes.length, lines };
    lines += countLines(bytes);
    if (begin === 0 && hasHead) {
      head = [bytes.slice(0, bytes.indexOf(NEW_LINE) + 1)];
      lines -= 1;
    }
    begin += bytes.length;
  }
}

/** @returns bytes of the file that end with a whole line */
async function lineAlignedBytes(
  file: Blob,
  begin: number,
  atLeast: number,
): Promise<Uint8Array<ArrayBuffer>> {
  for (let size = atLeast; ; size *= 2) {
    const bytes = new Uint8Array(await file.slice(begin, begin + size).arrayBuffer());
    if (begin + bytes.length >= file.size) return bytes;
    const end = bytes.lastIndexOf(NEW_LINE);
    if (end >= 0) return bytes.slice(0, end + 1);
  }
}

function countLines(bytes: Uint8Array) {
  let lines = 0;
  for (const byte of bytes) if (byte === NEW_LINE) lines++;
  return lines;
}
