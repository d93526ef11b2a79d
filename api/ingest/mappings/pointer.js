/** Deepest level of a payload in which values are searched. An object at this level is counted as one value. */
const MAX_DEPTH = 8;

/** A JSON Pointer (RFC 6901), as its unescaped tokens. @typedef {string[]} Pointer */

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** @param {string} text @returns {boolean} whether the text is a JSON Pointer. An empty text is a pointer to the whole payload */
export const isPointer = (text) => POINTER.test(text);

/** @param {string} text a JSON Pointer @returns {Pointer} */
export const parsePointer = (text) =>
  text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/** @param {string[]} tokens @returns {string} a JSON Pointer */
export const pointerText = (tokens) =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/**
 * @param {unknown} content
 * @param {Pointer} pointer
 * @returns {unknown} undefined: there is no such value. Inherited members, such as members of `Object.prototype`, are no values
 */
export function find(content, pointer) {
  let value = content;
  for (const token of pointer) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, token)) return undefined;
    // `length` is an own property of an array, but no value of the payload.
    if (Array.isArray(value) && !/^\d+$/.test(token)) return undefined;
    value = /** @type {Record<string, unknown>} */ (value)[token];
  }
  return value;
}

/** @param {Array<string | number>} tokens @returns {string} the path that refusals and the dashboard use: `rxInfo[0].rssi` */
export const pathOf = (tokens) =>
  tokens.reduce(
    (/** @type {string} */ path, token) =>
      typeof token === 'number' || /^\d+$/.test(token)
        ? `${path}[${token}]`
        : path === ''
          ? String(token)
          : `${path}.${token}`,
    '',
  );

/**
 * Visits the values in a payload, or in a member of it: the members of objects, down to `MAX_DEPTH`. An array is
 * visited as one value, because its elements have no names.
 *
 * @param {unknown} content
 * @param {(tokens: string[], value: unknown) => void} visit receives each value that is no object. An object at the
 *   depth limit is visited as one value
 */
export function visitValues(content, visit) {
  /** @param {unknown} value @param {string[]} tokens */
  const walk = (value, tokens) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || tokens.length === MAX_DEPTH) {
      visit(tokens, value);
      return;
    }
    for (const [token, member] of Object.entries(value)) walk(member, [...tokens, token]);
  };
  walk(content, []);
}
