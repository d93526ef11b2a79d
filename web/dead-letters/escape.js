/**
 * What is not to be seen, or changes the order in which the rest is read: controls but the line feed, marks of direction,
 * spaces of no width, halves of surrogate pairs.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Shows a text of strangers as what it is: whatever would not be seen is written as an escape of JSON.
 *
 * @param {string} text
 * @returns {string}
 */
export const escapeUnseen = (text) =>
  text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same for what stands on one line. @param {string} text */
export const escapeLine = (text) => escapeUnseen(text).replaceAll('\n', '\\n');
