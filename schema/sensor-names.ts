/**
 * Names of sensors that are joined from parts, such as the members around a value or a measurement and its field. Different parts
 * never give the same name, and parts without dots, backslashes and braces are joined as they are. Between two digits a plain dot
 * belongs to a part (`PM2.5`), and elsewhere it joins two parts (`battery.level`). A backslash before a dot marks the opposite.
 */

const DIGIT_AT_END = /\d$/;
const DIGIT_AT_START = /^\d/;

/** Matches a backslash, and a dot that would be read as the end of a part. */
const SPECIAL = /\\|(?<!\d)\.|\.(?!\d)/g;
const SPECIAL_OR_BRACE = /[\\{]|(?<!\d)\.|\.(?!\d)/g;

/** @param {string} part @returns {string} the name of a sensor with this part only */
export const nameOfPart = (part) =>
  part.includes('.') || part.includes('\\') ? part.replaceAll(SPECIAL, '\\$&') : part;

/** @param {string} before @param {string} after @returns {string} the dot that joins two names */
const dotBetween = (before, after) => (DIGIT_AT_END.test(before) && DIGIT_AT_START.test(after) ? '\\.' : '.');

/** @param {string} before @param {string} after names that are escaped already @returns {string} */
export const joinNames = (before, after) => `${before}${dotBetween(before, after)}${after}`;

/** @param {string | null} name null: the part is the first @param {string} part @returns {string} */
export const withPart = (name, part) =>
  name === null ? nameOfPart(part) : joinNames(name, nameOfPart(part));

/** @param {string[]} parts @returns {string} */
export const nameOfParts = (parts) =>
  parts.reduce((/** @type {string | null} */ name, part) => withPart(name, part), null) ?? '';

/** @param {string} name @returns {string} the parts as they were, joined by dots */
export const withoutMarks = (name) => (name.includes('\\') ? name.replaceAll(/\\(.)/gs, '$1') : name);

/**
 * Begins the names of the sensors of a line of line protocol. Measurements often have dots, which stay as they are. The last dot
 * that joins two parts stands before the field.
 *
 * @param {string} measurement
 * @param {Iterable<[key: string, value: string]>} tags
 * @returns {{ prefix: string, suffix: string }}
 */
export function lineNames(measurement, tags) {
  // Clients may write the tags of one series in any order.
  const sorted = [...tags].sort(([one], [other]) => (one < other ? -1 : 1));
  const suffix = sorted.map(([key, value]) => `${escapedTag(key)}=${escapedTag(value)}`).join();
  return { prefix: measurement.replaceAll(/[\\{]/g, '\\$&'), suffix: suffix && `{${suffix}}` };
}

/** @param {{ prefix: string, suffix: string }} names @param {string} field @returns {string} */
export const lineName = ({ prefix, suffix }, field) =>
  joinNames(prefix, field.replaceAll(SPECIAL_OR_BRACE, '\\$&')) + suffix;

/** @param {string} text key or value of a tag */
const escapedTag = (text) => text.replaceAll(/[\\,=]/g, '\\$&');
