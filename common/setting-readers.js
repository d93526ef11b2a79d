import { accessSync, constants } from 'node:fs';
import { parseDuration } from './durations.js';

/**
 * How the text of one setting becomes its value. Each reader throws an Error whose message goes on from the
 * setting's name: "HTTP_PORT" "must be a whole number from 0 to 65535".
 *
 * @template T
 * @typedef {(text: string) => T} Reader
 */

/** @param {string} says @returns {never} */
const refuse = (says) => {
  throw new Error(says);
};

/** @type {Reader<string>} */
export const text = (value) => value;

/** @type {Reader<boolean>} */
export const flag = (value) =>
  value === 'true' ? true : value === 'false' ? false : refuse('must be true or false');

/** @param {string} min @param {string} max durations @returns {Reader<number>} ms */
export const duration = (min, max) => (value) => {
  const ms = parseDuration(value);
  const fits = ms !== null && ms >= Number(parseDuration(min)) && ms <= Number(parseDuration(max));
  return fits ? ms : refuse(`must be a duration such as 5m or 7d, from ${min} to ${max}`);
};

/** @param {number} min @param {number} max @returns {Reader<number>} */
export const integer = (min, max) => (value) => {
  const number = Number(value);
  const fits = value.trim() !== '' && Number.isInteger(number) && number >= min && number <= max;
  return fits ? number : refuse(`must be a whole number from ${min} to ${max}`);
};

/** @param {string[]} words @returns {Reader<string>} */
export const oneOf = (words) => (value) =>
  words.includes(value) ? value : refuse(`must be one of ${words.join(', ')}`);

/** @param {RegExp} pattern @param {string} says @returns {Reader<string>} */
export const matching = (pattern, says) => (value) => (pattern.test(value) ? value : refuse(says));

/** @type {Reader<string>} the path of a file that is there and can be read */
export const readableFile = (value) => {
  try {
    accessSync(value, constants.R_OK);
    return value;
  } catch (error) {
    return refuse(`cannot be read: ${/** @type {Error} */ (error).message}`);
  }
};

/** @type {Reader<string[]>} in a file each may have a line of its own */
export const tokens = (value) =>
  value
    .split(/[,\r\n]/)
    .map((item) => item.trim())
    .filter(Boolean);

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/i;

/** @type {Reader<string[]>} */
export const addresses = (value) => {
  const items = value.split(',').map((item) => item.trim());
  const bad = items.find((item) => {
    const match = ADDRESS.exec(item);
    return !match || (match[2] !== undefined && !(Number(match[2]) >= 1 && Number(match[2]) <= 65_535));
  });
  if (bad !== undefined) refuse(`must be host[:port], comma-separated, IPv6 in brackets; "${bad}" is not`);
  return items;
};

/** @type {Reader<string>} */
export const brokerUrl = (value) => {
  // Name and password have settings of their own: an address is printed and logged, they are not.
  if (/^mqtts?:\/\/[^\s/@?#]+$/.test(value) && URL.canParse(value)) return value;
  return refuse('must be mqtt://host:port or mqtts://host:port, without user, password and path');
};
