import { useState } from 'preact/hooks';
import { toProblem, wordsOf } from '../api/request.js';
import { Cancel, Dialog } from '../components/controls.jsx';
import { formatBytes, formatCount, formatCounted } from '../format.js';
import { useServices } from '../state/hooks.js';
import { useMay } from '../state/session.js';
import { elementOf, RefusedTable } from './codes.jsx';
import { bytesIn } from './text.js';

/** @import { Problem, Query } from '../api/request.js' */
/** @import { DeadLetter, ReplayResult } from '../api/types.js' */
/** @import { Client } from '../api/client.js' */

/**
 * Stores refused measurements after an operator removed the cause.
 *
 * @param {{ deadLetter: DeadLetter, keptBytes: number }} props
 */
export function Replay({ deadLetter, keptBytes }) {
  const { client } = useServices();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState(/** @type {ReplayResult | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const element = elementOf(deadLetter.topic);
  const may = useMay('admin');
  const obstacle =
    obstacleOf(deadLetter, keptBytes) ||
    (may ? '' : 'Your token reads; what was refused is replayed with one of the scope admin.');

  async function replay() {
    setAsking(false);
    setBusy(true);
    setResult(null);
    setProblem(null);
    await client.replay(deadLetter.id).then(setResult, (error) => setProblem(toProblem(error)));
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
          {busy ? 'Replaying …' : 'Replay …'}
        </button>
      </div>
      <div role="status">
        {result && <Outcome result={result} element={element} />}
        {problem && <Failure problem={problem} />}
      </div>
      {asking && (
        <Dialog title="Store what was refused?" onClose={() => setAsking(false)}>
          <p>
            {formatCounted(countOf(deadLetter), `refused ${element} goes`, `refused ${element}s go`)} through
            ingest again. Valid ones are committed under their own time. Refused ones are listed here.
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

/** @param {{ result: ReplayResult, element: string }} props */
const Outcome = ({ result: { accepted, refused }, element }) => (
  <>
    <p class="outcome" data-tone={refused.length === 0 ? 'good' : 'warn'}>
      {refused.length === 0
        ? `✓ Stored: ${storedText(accepted, element)}.`
        : `${accepted > 0 ? `Stored: ${storedText(accepted, element)}. ` : 'Nothing is stored. '}Refused again: ${formatCount(refused.length)}.`}
    </p>
    {refused.length > 0 && <RefusedTable refused={refused} caption="Refused again" element={element} />}
  </>
);

/** A birth is stored as one. @param {number} accepted @param {string} element */
const storedText = (accepted, element) => formatCounted(accepted, element === 'sensor' ? 'birth' : element);

/** @param {{ problem: Problem }} props */
function Failure({ problem }) {
  const { title, advice } = wordsOf(problem);
  return (
    <p class="outcome" data-tone="warn">
      {title}. {advice}
    </p>
  );
}

/** @param {Pick<DeadLetter, 'codes'>} deadLetter */
export const countOf = ({ codes }) => Object.values(codes).reduce((sum, count) => sum + count, 0);

/** @param {DeadLetter} deadLetter @param {number} keptBytes @returns {string} why it cannot be replayed; empty: it can */
export function obstacleOf({ size, payload_base64 }, keptBytes) {
  if (size === null || payload_base64 === null) {
    return 'It cannot be replayed: only the counts were kept, since its device had too many dead letters in that hour.';
  }
  if (size > keptBytes) {
    return `It cannot be replayed: of its ${formatBytes(size)} only the first ${formatBytes(keptBytes)} were kept.`;
  }
  return '';
}

/** Dead letters of one bulk replay. Each takes a request. */
export const MOST_AT_ONCE = 1000;

/** A page has the payloads too, so it is small. */
const PAGE_ROWS = 100;

/** A temporary problem is retried after this pause, in ms. */
const RETRY_MS = 2000;
const MOST_RETRIES = 5;

/** @typedef {Pick<DeadLetter, 'id' | 'ts' | 'device' | 'codes'>} Head a dead letter without its payload */

/**
 * @typedef {object} Collected
 * @property {Head[]} heads that can be replayed, the oldest first: a birth comes before its measurements
 * @property {number} incomplete dead letters without their whole payload, which cannot be replayed
 * @property {boolean} hasMore whether there are more than one bulk replay takes
 */

/**
 * Lists the dead letters of a filter.
 *
 * @param {Pick<Client, 'deadLetters'>} client
 * @param {Query} query range, device and code
 * @param {{ signal: AbortSignal, onCount: (count: number) => void }} options
 * @returns {Promise<Collected>}
 * @throws {Problem}
 */
export async function collect(client, query, { signal, onCount }) {
  /** @type {Head[]} */
  const heads = [];
  let incomplete = 0;
  /** @type {string | null} */
  let cursor = null;
  do {
    const page = await client.deadLetters({ ...query, limit: PAGE_ROWS, cursor }, signal);
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

/** @param {DeadLetter} deadLetter @returns {Head} */
const headOf = ({ id, ts, device, codes }) => ({ id, ts, device, codes });

/** @param {DeadLetter} deadLetter */
const isWhole = ({ size, payload_base64 }) =>
  size !== null && payload_base64 !== null && bytesIn(payload_base64) === size;

/** The result of one dead letter. @typedef {{ head: Head } & ({ result: ReplayResult } | { problem: Problem })} Replayed */

/**
 * Replays dead letters one after another. Temporary problems are retried.
 *
 * @param {Pick<Client, 'replay'>} client
 * @param {Head[]} heads
 * @param {object} options
 * @param {AbortSignal} options.signal ends the replay after the running request
 * @param {(replayed: Replayed) => void} options.onReplayed
 * @param {number} [options.retryMs]
 * @returns {Promise<void>}
 */
export async function replayAll(client, heads, { signal, onReplayed, retryMs = RETRY_MS }) {
  for (const head of heads) {
    for (let retries = 0; ; retries++) {
      if (signal.aborted) return;
      const replayed = await client.replay(head.id).then(
        (result) => ({ head, result }),
        (error) => ({ head, problem: toProblem(error) }),
      );
      const mayPass = 'problem' in replayed && replayed.problem.passes;
      if (!mayPass || retries === MOST_RETRIES) {
        onReplayed(replayed);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** @param {Replayed} replayed @returns {boolean} whether all of it is stored now */
export const isStored = (replayed) => 'result' in replayed && replayed.result.refused.length === 0;

/**
 * @param {Replayed[]} all
 * @returns {{ accepted: number, refused: number, failed: number }} stored and refused elements; dead letters with a problem
 */
export function sumOf(all) {
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
