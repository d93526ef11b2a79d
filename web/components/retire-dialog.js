import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { wordsOf } from '../api/problem-words.js';
import { useParts } from '../state/hooks.js';
import { RetireConfirmation, RetireExplanation } from './retire-steps.js';

/**
 * Retires a device, asked twice: first what will happen, then for its name.
 *
 * @param {{ device: import('../api/types.js').DeviceInfo, onClose: () => void }} props
 */
export function RetireDialog({ device, onClose }) {
  const { client, router } = useParts();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [isSure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('../api/problem.js').Problem | null} */ (null));
  const name = device.name ?? device.device_id;
  const close = () => dialog.current?.close();

  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);

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
    router.go('/?show=devices', { word: `${name} is retired.` });
  }

  return html`
    <dialog
      class="dialog"
      ref=${dialog}
      aria-labelledby="retire-title"
      onClose=${onClose}
      onCancel=${(/** @type {Event} */ event) => busy && event.preventDefault()}
    >
      <h2 id="retire-title">Retire ${name}?</h2>
      ${
        isSure
          ? html`<${RetireConfirmation} name=${name} busy=${busy} onConfirm=${retire} onCancel=${close} />`
          : html`<${RetireExplanation} device=${device} onContinue=${() => setSure(true)} onCancel=${close} />`
      }
      ${problem && html`<${Failure} problem=${problem} />`}
    </dialog>
  `;
}

/** @param {{ problem: import('../api/problem.js').Problem }} props */
function Failure({ problem }) {
  const { title, advice } = wordsOf(problem);
  return html`
    <div class="dialog-problem" role="alert">
      <p><strong>${title}.</strong> ${advice}</p>
      ${problem.passes && html`<p>The retirement may be half done: do it again to finish it.</p>`}
    </div>
  `;
}
