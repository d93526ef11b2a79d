import { useEffect, useRef, useState } from 'preact/hooks';
import './copy.css';

/** Time in ms for which the result of a click is shown. */
const SHOWN_MS = 2500;

const RESULTS: Record<'idle' | 'copied' | 'failed', string> = {
  idle: '',
  copied: 'Copied',
  failed: 'Select the text and copy it',
};

/** Renders a button that copies a text to the clipboard. @param props `what`: name of the text, for screen readers */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [result, setResult] = useState<keyof typeof RESULTS>('idle');
  const button = useRef<HTMLButtonElement | null>(null);
  useEffect(() => {
    if (result === 'idle') return undefined;
    const timer = setTimeout(() => setResult('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy() {
    const isCopied = await copyText(text, button.current);
    setResult(isCopied ? 'copied' : 'failed');
  }

  return (
    <span class="copy">
      <button type="button" class="button" ref={button} onClick={copy}>
        {result === 'copied' ? 'Copied' : 'Copy'}
        <span class="visually-hidden"> {what}</span>
      </button>
      <span class={result === 'failed' ? 'copy-failed' : 'visually-hidden'} role="status">
        {RESULTS[result]}
      </span>
    </span>
  );
}

export const Copyable = ({ text, what }: { text: string; what: string }) => (
  <div class="copyable">
    <pre tabIndex={0} role="region" aria-label={what}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} what={what} />
  </div>
);

export async function copyText(text: string, button: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text, button);
  }
}

/**
 * Copies by the deprecated command of the browser. A page without TLS has no clipboard API, except on loopback.
 *
 * @param button a temporary field is placed next to the button, because an open modal dialog blocks selections outside of the
 *   dialog
 */
function copySelection(text: string, button: HTMLElement | null): boolean {
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  button?.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  button?.focus();
  return isCopied;
}

export function saveFile(name: string, content: Blob) {
  const href = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = href;
  // Device names may contain characters that file names cannot have.
  link.download = name.replaceAll(/[\\/:*?"<>|\s]+/g, '-');
  link.dataset['native'] = '';
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href));
}
