import { LEVELS } from './baseline.js';

/**
 * The state of a cell as one number, so that a painter can go through the cells color by color: 0 to 10 is the scale from far below to
 * far above, 5 is normal. The states after them have no deviation.
 */
export const NORMAL = LEVELS;
export const LEARNING = 2 * LEVELS + 1;
export const SILENT = LEARNING + 1;
export const OFFLINE = SILENT + 1;
export const NO_VALUE = OFFLINE + 1;
export const CELL_STATES = NO_VALUE + 1;

/**
 * @param {{ at: number, device: { offline: boolean } }} sensor
 * @param {number | null} level of its deviation; null while that is not known
 * @returns {number}
 */
export function cellStateOf({ at, device }, level) {
  if (device.offline) return OFFLINE;
  if (at === 0) return NO_VALUE;
  return level === null ? LEARNING : NORMAL + level;
}

/**
 * @param {number} cellState
 * @param {boolean} isNew whether it was compared with others of its type, since its own range is being learned
 * @returns {string} in words
 */
export function describeCellState(cellState, isNew) {
  if (cellState === OFFLINE) return 'Device offline';
  if (cellState === SILENT) return 'Silent';
  if (cellState === NO_VALUE) return 'No value yet';
  if (cellState === LEARNING) return 'Learning its range';
  const size = Math.abs(cellState - NORMAL);
  if (size <= 1) return isNew ? 'Like others of its type' : 'As usual';
  const where = `${cellState < NORMAL ? 'below' : 'above'} ${isNew ? 'others of its type' : 'its usual'}`;
  const words = `${size >= 4 ? 'far ' : size === 2 ? 'a little ' : ''}${where}`;
  return words.replace(/^./, (first) => first.toUpperCase());
}
