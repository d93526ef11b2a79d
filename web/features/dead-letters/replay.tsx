import { useState } from 'preact/hooks';
import type { Problem, Query } from '../../api/request.ts';
import { problemWords, toProblem } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { formatBytes } from '../shared/bytes.ts';
import { Cancel, Dialog } from '../shared/dialog.tsx';
import type { DeadLetter, ReplayResult } from './api.ts';
import { replayDeadLetter } from './api.ts';
import { elementOf, RefusedTable } from './codes.tsx';
import { bytesIn } from './text.ts';

export function Replay({ deadLetter, keptBytes }: { deadLetter: DeadLetter; keptBytes: number }) {
  const { client } = useServices();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<ReplayResult | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const element = elementOf(deadLetter.topic);
  const may = useMay('admin');
  const obstacle = obstacleOf(deadLetter, keptBytes) || (may ? '' : scopeText('Replay', 'admin'));

  async function replay() {
    setAsking(false);
    setBusy(true);
    setResult(null);
    setProblem(null);
    await replayDeadLetter(client, deadLetter.id).then(setResult, (error) => setProblem(toProblem(error)));
    setBusy(false);
  }

  return (
    <section class="panel" aria-label="Replay">
      <div class="replay">
        <div>
          <h2>Replay</h2>
          <p id="replay-note">
            {obstacle ||
              'When the cause is removed, the refused parts can be stored. A second replay does no harm.'}
          </p>
        </div>
        <button
          type="button"
          class="button"
          disabled={obstacle !== ''}
          aria-disabled={busy}
          aria-describedby="replay-note"
          onClick={() => !busy && setAsking(true)}
        >
          {busy ? 'Replaying…' : 'Replay…'}
        </button>
      </div>
      <div role="status">
        {result && <Outcome result={result} element={element} />}
        {problem && <Failure problem={problem} />}
      </div>
      {asking && (
        <Dialog title="Store what was refused?" onClose={() => setAsking(false)}>
          <p>
            {formatCounted(countRefused(deadLetter), `refused ${element} goes`, `refused ${element}s go`)}{' '}
            through ingest again. Valid ones are committed under their own time. Refused ones are listed here.
          </p>
          <p>The other parts of this message are already stored. The dead letter stays until it expires.</p>
          <p class="dialog-actions">
            <Cancel />
            <button type="button" class="button main-button" onClick={replay}>
              Replay
            </button>
          </p>
        </Dialog>
      )}
    </section>
  );
}

const Outcome = ({ result: { accepted, refused }, element }: { result: ReplayResult; element: string }) => (
  <>
    <p class="outcome" data-tone={refused.length === 0 ? 'good' : 'warn'}>
      {refused.length === 0
        ? `✓ Stored: ${storedText(accepted, element)}.`
        : `${accepted > 0 ? `Stored: ${storedText(accepted, element)}. ` : 'Nothing is stored. '}Refused again: ${formatCount(refused.length)}.`}
    </p>
    {refused.length > 0 && <RefusedTable refused={refused} caption="Refused again" element={element} />}
  </>
);

/** Returns the text about stored elements. A birth message is stored as a whole. */
const storedText = (accepted: number, element: string) =>
  formatCounted(accepted, element === 'sensor' ? 'birth' : element);

function Failure({ problem }: { problem: Problem }) {
  const { title, advice } = problemWords(problem);
  return (
    <p class="outcome" data-tone="warn">
      {title}. {advice}
    </p>
  );
}

export const countRefused = ({ codes }: Pick<DeadLetter, 'codes'>) =>
  Object.values(codes).reduce((sum, count) => sum + count, 0);

/** @returns the reason why the dead letter cannot be replayed; empty: replay is possible */
export function obstacleOf({ size, payload_base64 }: DeadLetter, keptBytes: number): string {
  if (size === null || payload_base64 === null) {
    return 'It cannot be replayed: only the counts were kept, since its device had too many dead letters in that hour.';
  }
  if (size > keptBytes) {
    return `It cannot be replayed: of its ${formatBytes(size)} only the first ${formatBytes(keptBytes)} were kept.`;
  }
  return '';
}

/** Maximum number of dead letters of one bulk replay. Each dead letter needs a request. */
export const MOST_AT_ONCE = 1000;

/** Dead letters per page. The number is small, because each page includes the payloads. */
const PAGE_ROWS = 100;

/** Pause in ms before a retry after a temporary problem. */
const RETRY_MS = 2000;
const MOST_RETRIES = 5;

/** A dead letter without its payload. */
type Head = Pick<DeadLetter, 'id' | 'ts' | 'device' | 'codes'>;

export interface Collected {
  /** dead letters that can be replayed, oldest first, so that a birth comes before its measurements */
  heads: Head[];
  /** dead letters without their whole payload, which cannot be replayed */
  incomplete: number;
  /** whether more dead letters exist than one bulk replay takes */
  hasMore: boolean;
}

/**
 * Lists the dead letters that match a filter.
 *
 * @param readPage reads a page of the list
 * @param query range, device and code
 * @throws {Problem}
 */
export async function collect(
  readPage: (query: Query, signal: AbortSignal) => Promise<Page<DeadLetter>>,
  query: Query,
  { signal, onCount }: { signal: AbortSignal; onCount: (count: number) => void },
): Promise<Collected> {
  const heads: Head[] = [];
  let incomplete = 0;
  let cursor: string | null = null;
  do {
    const page: Page<DeadLetter> = await readPage({ ...query, limit: PAGE_ROWS, cursor }, signal);
    for (const deadLetter of page.items) {
      if (!isWhole(deadLetter)) incomplete++;
      else if (heads.length === MOST_AT_ONCE) return { heads: heads.reverse(), incomplete, hasMore: true };
      else heads.push(headOf(deadLetter));
    }
    onCount(heads.length);
    cursor = page.next;
  } while (cursor !== null);
  return { heads: heads.reverse(), incomplete, hasMore: false };
}

const headOf = ({ id, ts, device, codes }: DeadLetter): Head => ({ id, ts, device, codes });

const isWhole = ({ size, payload_base64 }: DeadLetter) =>
  size !== null && payload_base64 !== null && bytesIn(payload_base64) === size;

/** The result of one dead letter. */
export type Replayed = { head: Head } & ({ result: ReplayResult } | { problem: Problem });

/** Replays dead letters one after the other. Temporary problems are retried. */
export async function replayAll(
  replay: (id: string) => Promise<ReplayResult>,
  heads: Head[],
  {
    signal,
    onReplayed,
    retryMs = RETRY_MS,
  }: {
    /** ends the replay after the running request */
    signal: AbortSignal;
    onReplayed: (replayed: Replayed) => void;
    retryMs?: number;
  },
): Promise<void> {
  for (const head of heads) {
    for (let retries = 0; ; retries++) {
      if (signal.aborted) return;
      const replayed = await replay(head.id).then(
        (result) => ({ head, result }),
        (error) => ({ head, problem: toProblem(error) }),
      );
      const mayPass = 'problem' in replayed && replayed.problem.isTemporary;
      if (!mayPass || retries === MOST_RETRIES) {
        onReplayed(replayed);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** @returns whether all measurements of the dead letter are stored now */
export const isStored = (replayed: Replayed): boolean =>
  'result' in replayed && replayed.result.refused.length === 0;

/** @returns number of stored elements, of refused elements, and of dead letters with a problem */
export function sumReplays(all: Replayed[]): { accepted: number; refused: number; failed: number } {
  const sum = { accepted: 0, refused: 0, failed: 0 };
  for (const replayed of all) {
    if ('problem' in replayed) sum.failed++;
    else {
      sum.accepted += replayed.result.accepted;
      sum.refused += replayed.result.refused.length;
    }
  }
  return sum;
}
