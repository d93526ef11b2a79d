import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Choice } from '../components/choice.js';
import { formatBytes, formatCount } from '../format.js';
import { dumpOf } from './dump.js';

/** @import { Refusal } from '../api/types.js' */
/** @import { Payload } from './payload.js' */

/** Elements that are shown at once; more on demand. */
const AT_ONCE = 100;

/** A dump of so many bytes a line fits a phone. */
const DUMP_WIDTHS = { narrow: 8, wide: 16 };

/**
 * What the message held, in the most readable way there is. Payloads are what strangers sent: all of it is text.
 *
 * @param {object} props
 * @param {Payload} props.payload
 * @param {number} props.size bytes of the whole
 * @param {Refusal[]} props.refused
 */
export function PayloadView({ payload, size, refused }) {
  const { bytes, text, elements, format, obstacle } = payload;
  const ways = [
    ...(elements ? [{ value: 'elements', label: 'Measurements' }] : []),
    ...(text === null ? [] : [{ value: 'text', label: 'Text' }]),
    { value: 'bytes', label: 'Bytes' },
  ];
  const [way, setWay] = useState(ways[0]?.value ?? 'bytes');
  const isNarrow = matchMedia('(max-width: 44rem)').matches;
  return html`
    <section class="panel" aria-label="Payload">
      <div class="panel-head">
        <h2>Payload</h2>
        <p class="panel-note">${format && `${format}, `}${formatBytes(size)}${size > bytes.length && `, of which the first ${formatBytes(bytes.length)} were kept`}</p>
        <${Choice} legend="Show it as" options=${ways} value=${way} onChange=${setWay} />
      </div>
      ${obstacle && way !== 'bytes' && html`<p class="obstacle">${obstacle}</p>`}
      ${bytes.length === 0 && html`<p class="none">It is empty.</p>`}
      ${way === 'elements' && elements && html`<${Elements} elements=${elements} refused=${refused} />`}
      ${way === 'text' && bytes.length > 0 && html`<pre class="payload" tabindex="0" aria-label="Payload as text">${text}</pre>`}
      ${way === 'bytes' && bytes.length > 0 && html`<pre class="payload dump" tabindex="0" aria-label="Payload as bytes, in hexadecimal">${dumpOf(bytes, isNarrow ? DUMP_WIDTHS.narrow : DUMP_WIDTHS.wide)}</pre>`}
    </section>
  `;
}

/** @param {{ elements: string[], refused: Refusal[] }} props */
function Elements({ elements, refused }) {
  const [shown, setShown] = useState(AT_ONCE);
  const [onlyRefused, setOnlyRefused] = useState(false);
  const codes = new Map(refused.map(({ index, code }) => [index, code]));
  const all = elements.map((text, index) => ({ text, index, code: codes.get(index) }));
  const wanted = onlyRefused ? all.filter(({ code }) => code) : all;
  const hasBoth = codes.size > 0 && !codes.has(-1) && elements.length > codes.size;
  return html`
    ${
      hasBoth &&
      html`<p class="elements-filter">
        <label><input type="checkbox" checked=${onlyRefused} onChange=${() => setOnlyRefused(!onlyRefused)} /> Only what was refused</label>
      </p>`
    }
    <ol class="elements" tabindex="0" aria-label="Payload, measurement by measurement">
      ${wanted.slice(0, shown).map(
        ({ text, index, code }) => html`
          <li key=${index} data-refused=${Boolean(code)}>
            <span class="element-index">[${index}]</span>
            <code>${text}</code>
            ${code && html`<span class="element-code">✕ ${code}</span>`}
          </li>
        `,
      )}
    </ol>
    ${
      wanted.length > shown &&
      html`<p class="more">
        <button type="button" class="button" onClick=${() => setShown(shown + 10 * AT_ONCE)}>Show ${formatCount(Math.min(wanted.length - shown, 10 * AT_ONCE))} more</button>
        <span>of ${formatCount(wanted.length)}</span>
      </p>`
    }
  `;
}
