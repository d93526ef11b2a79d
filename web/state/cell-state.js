import { LEVELS } from './baseline.js';

/**
 * How a cell looks. One number each, so that a painter can go through them colour by colour: 0 to 10 is the scale from far below to far
 * above, 5 the usual; then those of which there is no deviation to show.
 */
export const USUAL = LEVELS;
export const LEARNING = 2 * LEVELS + 1;
export const SILENT = LEARNING + 1;
export const OFFLINE = SILENT + 1;
export const UNHEARD = OFFLINE + 1;
export const LOOKS = UNHEARD + 1;

/**
 * @param {{ at: number, device: { offline: boolean } }} sensor
 * @param {number | null} level of its deviation; null while that is not known
 * @returns {number}
 */
export function lookOf({ at, device }, level) {
  if (device.offline) return OFFLINE;
  if (at === 0) return UNHEARD;
  return level === null ? LEARNING : USUAL + level;
}

/**
 * @param {number} look
 * @param {boolean} isNew whether it was compared with others of its type, since its own range is being learned
 * @returns {string} in words
 */
export function describeLook(look, isNew) {
  if (look === OFFLINE) return 'Device offline';
  if (look === SILENT) return 'Silent';
  if (look === UNHEARD) return 'No value yet';
  if (look === LEARNING) return 'Learning its range';
  const size = Math.abs(look - USUAL);
  if (size <= 1) return isNew ? 'Like others of its type' : 'As usual';
  const where = `${look < USUAL ? 'below' : 'above'} ${isNew ? 'others of its type' : 'its usual'}`;
  const words = `${size >= 4 ? 'far ' : size === 2 ? 'a little ' : ''}${where}`;
  return words.replace(/^./, (first) => first.toUpperCase());
}
