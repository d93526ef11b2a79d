import type { Problem } from '../../api/request.ts';
import { problemText } from '../../api/request.ts';
import { typedWindow, writeWindow } from '../../chart/window.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { ProblemNotice } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, withQuery } from '../../routes.ts';
import { saveFile } from '../shared/copy.tsx';
import type { Imported, ImportedRow, RefusedLine } from './api.ts';
import { inFieldNames } from './options.tsx';
import type { ImportRun } from './state.ts';

/** Maximum number of refused lines that the page shows. The file for download has more lines. */
const MOST_SHOWN = 20;

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

export function RunResult({
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

export function Preview({
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
    <Table
      class="plain import-table"
      isTitled
      caption={
        <>
          Refused lines
          {name !== '' && (
            <button type="button" class="button quiet-button" onClick={save}>
              Download
            </button>
          )}
        </>
      }
      rows={lines.slice(0, MOST_SHOWN)}
      keyOf={({ line, rule }) => `${line} ${rule}`}
      columns={[
        { label: 'Line', class: 'number', width: '6rem', cell: ({ line }) => line },
        { label: 'Code', width: '9rem', cell: ({ code }) => code },
        { label: 'Rule', class: 'wraps', cell: ({ rule }) => rule },
      ]}
    />
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
        <Table
          class="plain import-table import-samples"
          rows={first.slice(0, MOST_SAMPLES)}
          keyOf={({ line, sensor }) => `${line} ${sensor}`}
          columns={[
            {
              label: isZoneOpen ? 'Time without a zone' : 'Time in UTC',
              cell: ({ ts }) => withoutZeros(ts.replace('T', ' ').replace('Z', '')),
            },
            Boolean(zone) && { label: `Time in ${zone}`, cell: ({ local }) => local && withoutZeros(local) },
            { label: 'Device', cell: ({ device }) => device },
            { label: 'Sensor', cell: ({ sensor }) => sensor },
            { label: 'Value', class: 'number', cell: ({ value }) => value },
            hasUnits && { label: 'Unit', cell: ({ unit }) => unit },
            hasSites && { label: 'Site', cell: ({ site }) => site },
          ]}
        />
      </section>
    </>
  );
}

/** @returns the time without milliseconds, if they are 0 */
const withoutZeros = (time: string) => time.replace('.000', '');
