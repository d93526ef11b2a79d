import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { wordsOf } from '../api/problem-words.js';
import { asTyped } from '../state/as-typed.js';
import { useParts } from '../state/hooks.js';
import { Dialog } from './dialog.js';
import { RetireConfirmation, RetireExplanation } from './retire-steps.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { DeviceInfo } from '../api/types.js' */

/**
 * Retires a device, asked twice: first what will happen, then for its name.
 *
 * @param {{ device: DeviceInfo, onClose: () => void }} props
 */
export function RetireDialog({ device, onClose }) {
  const { client, live, router } = useParts();
  const [isSure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const name = asTyped(device.name ?? '') || device.device_id;

  async function retire() {
    setBusy(true);
    setProblem(null);
    try {
      await client.retire(device.device_id);
    } catch (error) {
      setProblem(toProblem(error));
      setBusy(false);
      return;
    }
    live.fleet.forget(device.device_id);
    router.go('/?show=devices', { word: `${name} is retired.` });
  }

  return html`
    <${Dialog} title=${`Retire ${name}?`} held=${busy} onClose=${onClose}>
      ${
        isSure
          ? html`<${RetireConfirmation} name=${name} busy=${busy} onConfirm=${retire} />`
          : html`<${RetireExplanation} device=${device} onContinue=${() => setSure(true)} />`
      }
      ${problem && html`<${Failure} problem=${problem} />`}
    <//>
  `;
}

/** @param {{ problem: Problem }} props */
function Failure({ problem }) {
  const { title, advice } = wordsOf(problem);
  return html`
    <div class="dialog-problem" role="alert">
      <p><strong>${title}.</strong> ${advice}</p>
      ${problem.passes && html`<p>The retirement may be half done: do it again to finish it.</p>`}
    </div>
  `;
}
