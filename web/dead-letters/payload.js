import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Choice } from '../components/choice.js';
import { formatBytes, formatCount } from '../format.js';
import { readCbor } from './cbor.js';
import { dumpOf, elementsOf, escapeUnseen } from './text.js';

/** @import { DeadLetter, Refusal } from '../api/types.js' */

/**
 * The payload of a dead letter, decoded. Its text comes from unknown senders, and is escaped.
 *
 * @typedef {object} Payload
 * @property {Uint8Array} bytes that were kept
 * @property {string | null} text null where the bytes are no UTF-8
 * @property {string[] | null} elements one by one, as the codes count them; null where they cannot be separated
 * @property {'JSON' | 'CBOR' | null} format of the elements
 * @property {string} obstacle why there are no elements; empty where there are
 */

/**
 * @param {DeadLetter} deadLetter one whose payload was kept
 * @returns {Payload}
 */
export function readPayload({ payload_base64, content_type }) {
  const bytes = Uint8Array.from(atob(payload_base64 ?? ''), (character) => character.charCodeAt(0));
  const text = textOf(bytes);
  const isCbor = content_type?.includes('cbor') || looksLikeCbor(bytes);
  const read = isCbor
    ? attempt('CBOR', () => readCbor(bytes))
    : text === null
      ? NOT_TEXT
      : attempt('JSON', () => jsonElements(text));
  return {
    bytes,
    text: text === null ? null : escapeUnseen(text),
    ...read,
    elements: read.elements?.map(escapeUnseen) ?? null,
  };
}

/** @typedef {Pick<Payload, 'elements' | 'format' | 'obstacle'>} Attempt */

/** @type {Attempt} */
const NOT_TEXT = {
  elements: null,
  format: null,
  obstacle: 'It is no text, and no format that can be shown otherwise.',
};

/** @param {'JSON' | 'CBOR'} format @param {() => string[]} read @returns {Attempt} */
function attempt(format, read) {
  try {
    return { elements: read(), format, obstacle: '' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { elements: null, format: null, obstacle: escapeUnseen(`It is no ${format}: ${reason}`) };
  }
}

/** @param {string} text @throws {SyntaxError} */
function jsonElements(text) {
  JSON.parse(text);
  return elementsOf(text);
}

/** @param {Uint8Array} bytes @returns {string | null} */
function textOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Ingest uses the same rule: an array of CBOR begins with one of these bytes, and no text does. @param {Uint8Array} bytes */
const looksLikeCbor = ([first = 0]) => first >= 0x80 && first <= 0x9f;

/** Elements that are shown at once; more on demand. */
const AT_ONCE = 100;

/** A dump of so many bytes a line fits a phone. */
const DUMP_WIDTHS = { narrow: 8, wide: 16 };

/**
 * The payload in its most readable form. It comes from unknown senders, so everything is shown as text.
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
