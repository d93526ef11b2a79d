import { readCbor } from './cbor.js';
import { escapeUnseen } from './escape.js';
import { elementsOf } from './json-text.js';

/** @import { DeadLetter } from '../api/types.js' */

/**
 * What can be made of a letter's payload. All of it is text of strangers, already escaped.
 *
 * @typedef {object} Payload
 * @property {Uint8Array} bytes that were kept
 * @property {string | null} text null where the bytes are no UTF-8
 * @property {string[] | null} elements one by one, as the codes count them; null where they cannot be told apart
 * @property {'JSON' | 'CBOR' | null} format of the elements
 * @property {string} obstacle why there are no elements; empty where there are
 */

/**
 * @param {DeadLetter} letter one whose payload was kept
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

/** As ingest tells them apart: an array of CBOR begins with one of these, which no text does. @param {Uint8Array} bytes */
const looksLikeCbor = ([first = 0]) => first >= 0x80 && first <= 0x9f;
