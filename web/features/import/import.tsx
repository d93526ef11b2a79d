import { useEffect, useState } from 'preact/hooks';
import { problemText, toProblem } from '../../api/request.ts';
import { typedWindow, writeWindow } from '../../chart/window.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { saveFile } from '../../kit/controls.tsx';
import { ProblemNotice } from '../../kit/notice.tsx';
import { deviceHref, withQuery } from '../../routes.ts';
import { useKept, useServices, useTitle } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { importPiece, readProposal } from './api.ts';
import { FileOptions, inFieldNames, openQuestions, Questions } from './options.tsx';
import { inUtf8, piecesOf, typeOf } from './pieces.ts';
import { createImporting, NO_IMPORT } from './state.ts';
import '../../kit/tables.css';
import './import.css';
import type { Problem } from '../../api/request.ts';
import type { Imported, ImportedRow, RefusedLine } from './api.ts';
import type { ImportRun } from './state.ts';

/** Maximum number of refused lines that the page shows. The file for download has more lines. */
const MOST_SHOWN = 20;

/** Pauses in ms before a piece of the file is sent again after a temporary problem. A piece that is sent twice is stored only once. */
const RETRY_MS = [1000, 2000, 5000, 10_000, 20_000];

const PARQUET = 'application/vnd.apache.parquet';

/** Size of the beginning of a file that the API gets for a proposal, and for the preview. */
const PROPOSAL_BYTES = 256 * 1024;
const PREVIEW_BYTES = 64 * 1024;

/** Pause after a change of the options before the preview is read again, in ms. */
const PREVIEW_AFTER_MS = 400;

const BEGUN: Omit<ImportRun, 'isTest' | 'device'> = {
  state: 'running',
  share: 0,
  rows: 0,
  samples: 0,
  merged: 0,
  refused: 0,
  oldest: null,
  newest: null,
  lines: [],
  first: [],
  problem: null,
};

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

/** Keeps the chosen file with its options, and reads its preview. */
function useImport(mayImport: boolean) {
  const { client } = useServices();
  const importing = useKept(createImporting);
  const { file, device, options, run } = importing.value;
  const type = file && typeOf(file.name);

  function change(changes: Partial<typeof importing.value>) {
    importing.value = { ...importing.peek(), ...changes };
  }

  async function choose(next: File | null | undefined) {
    if (!next) return;
    change({ ...NO_IMPORT, file: next, device });
    const type = typeOf(next.name);
    if (!type || type === PARQUET) return;
    // A proposal is help alone. If it fails, the form stays empty, and the test of the file shows the problem.
    const proposal = await readProposal(client, next.slice(0, PROPOSAL_BYTES), type).catch(() => null);
    if (!proposal || importing.peek().file !== next) return;
    const asksDevice = proposal.questions.some(({ option }) => option === 'device');
    change({
      proposal,
      options: proposal.options,
      ...(asksDevice && importing.peek().device === '' && { device: next.name.replace(/\.[^.]*$/, '') }),
    });
  }

  // Shows the first rows as they will be stored, after each change of the options.
  useEffect(() => {
    if (!file || !type || type === PARQUET || !mayImport || run) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const head = await inUtf8(file.slice(0, await wholeLines(file)), type, options['encoding']);
        const query = { ...queryOf(options), device, dry_run: 'true' };
        change({ preview: await importPiece(client, head, type, query, stop.signal) });
      } catch (error) {
        if (!stop.signal.aborted) change({ preview: toProblem(error) });
      }
    }, PREVIEW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [file, type, device, options, run === null]);

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
      const content = await inUtf8(file, type, options['encoding']);
      for await (const { body, end, lines } of piecesOf(content, type, undefined, options)) {
        const query = { ...queryOf(options), device, dry_run: String(isTest) };
        const part = await withRetries(() => importPiece(client, body, type, query, signal), signal);
        now = { ...added(now, part, lines), share: end / content.size };
        show(now);
      }
      show({ ...now, state: 'done' });
    } catch (error) {
      show({ ...now, state: 'stopped', problem: signal.aborted ? null : toProblem(error) });
    } finally {
      window.removeEventListener('beforeunload', askFirst);
    }
  }

  return { ...importing.value, type, change, choose, start };
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

/** @returns address of the device page with the range of the imported samples, and a margin */
function samplesHref(device: string, oldest: string, newest: string): string {
  const [first, last] = [Date.parse(oldest), Date.parse(newest)];
  const margin = Math.max(Math.round((last - first) * MARGIN_SHARE), LEAST_MARGIN_MS);
  const window = typedWindow({ from: first - margin, to: last + margin }, Date.now());
  const href = deviceHref(device);
  // A name that no path can hold has a search as its address.
  return href.includes('?')
    ? href
    : withQuery({ path: href, query: new URLSearchParams() }, writeWindow(window));
}

const MARGIN_SHARE = 0.02;
const LEAST_MARGIN_MS = 30_000;

function RunResult({
  run,
  file,
  zone,
  isZoneOpen,
  onRetry,
}: {
  run: ImportRun;
  file: File | null;
  zone: string | undefined;
  /** whether the question for the zone of the times has no answer */
  isZoneOpen: boolean;
  onRetry: () => void;
}) {
  const { isTest, device, state, share, rows, samples, merged, refused, lines, first, problem } = run;
  const { oldest, newest } = run;
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
        {merged > 0 && `, ${formatCount(merged)} merged into another of the same sensor and time`}
        {state === 'stopped' && '. Stopped: import the file again to go on. The stored samples stay'}.
        {state === 'done' && !isTest && device !== '' && oldest !== null && newest !== null && (
          <>
            {' '}
            <a class="link" href={samplesHref(device, oldest, newest)}>
              Show {device}
            </a>
          </>
        )}
      </p>
      {problem && <ProblemNotice problem={problem} onRetry={onRetry} />}
      {lines.length > 0 && <RefusedLines lines={lines} name={file?.name ?? ''} />}
      {isTest && first.length > 0 && <FirstSamples first={first} zone={zone} isZoneOpen={isZoneOpen} />}
    </div>
  );
}

function Preview({
  preview,
  zone,
  isZoneOpen,
}: {
  preview: Imported | Problem;
  zone: string | undefined;
  isZoneOpen: boolean;
}) {
  if (!('first' in preview))
    return (
      <p class="import-problem" role="alert">
        {inFieldNames(problemText(preview))}
      </p>
    );
  return (
    <div class="import-result">
      {preview.first.length > 0 && <FirstSamples first={preview.first} zone={zone} isZoneOpen={isZoneOpen} />}
      {preview.refused_lines.length > 0 && <RefusedLines lines={preview.refused_lines} name="" />}
    </div>
  );
}

function RefusedLines({ lines: refusals, name }: { lines: RefusedLine[]; name: string }) {
  const lines = refusals.map((refusal) => ({ ...refusal, rule: inFieldNames(refusal.rule) }));
  const save = () =>
    saveFile(
      `${name}.refused.csv`,
      new Blob([
        'line,code,rule\n',
        ...lines.map(({ line, code, rule }) => `${line},${code},"${rule.replaceAll('"', '""')}"\n`),
      ]),
    );
  return (
    <table class="plain import-table">
      <caption>
        Refused lines
        {name !== '' && (
          <button type="button" class="button quiet-button" onClick={save}>
            Download
          </button>
        )}
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

/** Number of samples that the page shows. */
const MOST_SAMPLES = 10;

function FirstSamples({
  first,
  zone,
  isZoneOpen,
}: {
  first: ImportedRow[];
  zone: string | undefined;
  isZoneOpen: boolean;
}) {
  const hasUnits = first.some(({ unit }) => unit !== null);
  const hasSites = first.some(({ site }) => site !== null);
  return (
    <>
      <p class="import-caption">
        {isZoneOpen
          ? 'The first samples. Their times are not decided until you choose a zone.'
          : 'The first samples, as they will be stored'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll the table on a narrow screen */}
      <section class="import-scroll" aria-label="First samples" tabIndex={0}>
        <table class="plain import-table import-samples">
          <thead>
            <tr>
              <th>{isZoneOpen ? 'Time without a zone' : 'Time in UTC'}</th>
              {zone && <th>Time in {zone}</th>}
              <th>Device</th>
              <th>Sensor</th>
              <th class="number">Value</th>
              {hasUnits && <th>Unit</th>}
              {hasSites && <th>Site</th>}
            </tr>
          </thead>
          <tbody>
            {first.slice(0, MOST_SAMPLES).map(({ line, device, sensor, ts, local, value, unit, site }) => (
              <tr key={`${line} ${sensor}`}>
                <td>{withoutZeros(ts.replace('T', ' ').replace('Z', ''))}</td>
                {zone && <td>{local && withoutZeros(local)}</td>}
                <td>{device}</td>
                <td>{sensor}</td>
                <td class="number">{value}</td>
                {hasUnits && <td>{unit}</td>}
                {hasSites && <td>{site}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** @returns the time without milliseconds, if they are 0 */
const withoutZeros = (time: string) => time.replace('.000', '');

/** @param before number of lines of the file before the piece that was sent */
function added(
  run: ImportRun,
  { rows, samples, merged, refused, oldest, newest, refused_lines: lines, first }: Imported,
  before: number,
): ImportRun {
  return {
    ...run,
    rows: run.rows + rows,
    samples: run.samples + samples,
    merged: run.merged + merged,
    refused: run.refused + refused,
    oldest: [run.oldest, oldest].filter((time) => time !== null).sort()[0] ?? null,
    newest:
      [run.newest, newest]
        .filter((time) => time !== null)
        .sort()
        .at(-1) ?? null,
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

/** @returns options as a query. Pieces are sent in UTF-8, so the encoding is left out */
const queryOf = ({ encoding: _, ...options }: Record<string, string>) => options;

/** @returns number of bytes at the beginning of a file that end with a whole line */
async function wholeLines(file: Blob): Promise<number> {
  if (file.size <= PREVIEW_BYTES) return file.size;
  const bytes = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer());
  // The line feed of UTF-16 has a zero byte after it or before it.
  const end = bytes.lastIndexOf(10) + 1;
  return bytes[end] === 0 ? end + 1 : end || PREVIEW_BYTES;
}
