import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { toProblem, wordsOf } from '../api/problem.js';
import { Cancel, Dialog } from '../components/dialog.js';
import { formatBytes, formatCount, formatCounted } from '../format.js';
import { useServices } from '../state/hooks.js';
import { useMay } from '../state/session.js';
import { RefusedTable } from './refused-table.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { DeadLetter, ReplayResult } from '../api/types.js' */

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

  return html`
    <section class="panel" aria-label="Replay">
      <div class="replay">
        <div>
          <h2>Replay</h2>
          <p id="replay-note">${obstacle || 'When the cause is removed, the refused measurements can be stored. A second replay does no harm.'}</p>
        </div>
        <button type="button" class="button" disabled=${obstacle !== ''} aria-disabled=${busy} aria-describedby="replay-note" onClick=${() => !busy && setAsking(true)}>
          ${busy ? 'Replaying …' : 'Replay …'}
        </button>
      </div>
      <div role="status">${result && html`<${Outcome} result=${result} />`}${problem && html`<${Failure} problem=${problem} />`}</div>
      ${
        asking &&
        html`<${Dialog} title="Store what was refused?" onClose=${() => setAsking(false)}>
          <p>${formatCounted(countOf(deadLetter), 'refused measurement goes', 'refused measurements go')} through ingest again. Valid ones are committed under their own time. Refused ones are listed here.</p>
          <p>The other measurements of this message are already stored. The dead letter stays until it expires.</p>
          <p class="dialog-actions">
            <${Cancel} />
            <button type="button" class="button main-button" onClick=${replay}>Replay</button>
          </p>
        <//>`
      }
    </section>
  `;
}

/** @param {{ result: ReplayResult }} props */
const Outcome = ({ result: { accepted, refused } }) => html`
  <p class="outcome" data-tone=${refused.length === 0 ? 'good' : 'warn'}>
    ${refused.length === 0 ? `✓ Stored: ${formatCounted(accepted, 'measurement')}.` : `${accepted > 0 ? `Stored: ${formatCounted(accepted, 'measurement')}. ` : 'Nothing is stored. '}Refused again: ${formatCount(refused.length)}.`}
  </p>
  ${refused.length > 0 && html`<${RefusedTable} refused=${refused} caption="Refused again" />`}
`;

/** @param {{ problem: Problem }} props */
function Failure({ problem }) {
  const { title, advice } = wordsOf(problem);
  return html`<p class="outcome" data-tone="warn">${title}. ${advice}</p>`;
}

/** @param {DeadLetter} deadLetter */
const countOf = ({ codes }) => Object.values(codes).reduce((sum, count) => sum + count, 0);

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
