import { MOST_STEAL } from '../measure/rounds.js';
import { percent } from './table.js';

/**
 * How quiet the machine was: the most that the host took in any run of what is shown.
 *
 * @param {Array<{ steal: number, repeats: number }>} rounds
 * @returns {string} `0.2 %`, `0.4 %, 1 repeated`, `17.0 %, 2 repeated, not quieter`
 */
export function stealOf(rounds) {
  const most = Math.max(...rounds.map(({ steal }) => steal));
  const repeats = rounds.reduce((sum, round) => sum + round.repeats, 0);
  return [
    percent(most),
    ...(repeats > 0 ? [`${repeats} repeated`] : []),
    ...(most > MOST_STEAL ? ['not quieter'] : []),
  ].join(', ');
}

/** @param {Array<{ others: number }>} rounds @returns {string} the most that processes of nobody's here used in any run of what is shown */
export const othersOf = (rounds) => percent(Math.max(...rounds.map(({ others }) => others)));
