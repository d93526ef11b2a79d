import { formatCount, formatCounted, formatNumber } from '../../format.ts';
import { CURRENT } from '../../state/cells.ts';

/**
 * `sigmas`, computed by the server, states how unusual a value is: its distance from the mean of the sensor at this
 * hour of the week, in standard deviations. See docs/explanation/baselines.md.
 */

/** Deviations in sigmas, from each of which on the color is one step stronger. */
const STEPS = [1.4, 2.2, 3.2, 4.5, 7];

/** Number of color steps above and below the mean. */
export const LEVELS = STEPS.length;

/** Deviation in sigmas from which a sensor is an outlier, as for `GET /outliers`. */
const OUTLIER_SIGMAS = 4.5;

/** @returns color step: -5 is far below the mean, 0 is as usual, 5 is far above the mean */
export function levelOf(sigmas: number): number {
  const size = Math.abs(sigmas);
  let level = 0;
  while (level < LEVELS && size >= Number(STEPS[level])) level += 1;
  return sigmas < 0 ? -level : level;
}

/** The states of cells: 0 to 10 is the scale from far below to far above, and 5 is normal. */
export const NORMAL = CURRENT;
export const NOT_JUDGED = 2 * LEVELS + 1;

export const judge = {
  cellStateOf: (sigmas: number | null): number => (sigmas === null ? NOT_JUDGED : NORMAL + levelOf(sigmas)),
  isFar: (sigmas: number | null): boolean => Math.abs(sigmas ?? 0) >= OUTLIER_SIGMAS,
};

export function describeLevel(cellState: number): string {
  if (cellState === NOT_JUDGED) return 'Not judged yet';
  const size = Math.abs(cellState - NORMAL);
  if (size <= 1) return 'As usual';
  const words = `${size >= 4 ? 'far ' : size === 2 ? 'a little ' : ''}${cellState < NORMAL ? 'below' : 'above'} its usual`;
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** @returns the judgment of a current value, and by how much it deviates */
export function describe({ cellState, sigmas }: { cellState: number; sigmas: number | null }): string {
  const words = describeLevel(cellState);
  if (cellState >= NOT_JUDGED || sigmas === null || Math.abs(levelOf(sigmas)) <= 1) return words;
  return `${words}, by ${formatNumber(Math.abs(sigmas), 1)} deviations`;
}

/** The text about the history that the first judgment of a sensor needs. */
export const TO_BE_JUDGED = 'that needs a day of history';

/** The text in place of an all-clear while no values arrive. */
export const OLD_VALUES = 'The values are old. Present outliers are not known.';

/** @returns the text while there are no outliers: an all-clear only for judged sensors */
export function nothingFar({ sensors, judged }: { sensors: number; judged: number }): string {
  if (judged >= sensors) return 'Nothing stands out.';
  if (judged <= 0) return 'Nothing needs attention. Usual values are known after a day of history.';
  return `Nothing stands out among ${formatCount(judged)} of ${formatCounted(sensors, 'sensor')}. The others are not judged yet.`;
}
