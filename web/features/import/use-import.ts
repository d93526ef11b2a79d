import { useEffect } from 'preact/hooks';
import { toProblem } from '../../api/request.ts';
import { useKept, useServices } from '../../state/hooks.ts';
import type { Imported } from './api.ts';
import { importPiece, readProposal } from './api.ts';
import { inUtf8, piecesOf, typeOf } from './pieces.ts';
import type { ImportRun } from './state.ts';
import { createImporting, NO_IMPORT } from './state.ts';

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

/** Keeps the chosen file with its options, and reads its preview. */
export function useImport(mayImport: boolean) {
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
