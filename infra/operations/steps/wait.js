import { durationText } from '../../../common/durations.js';

/** Interval of checks of a task that takes minutes, in s. */
const LOOK_EVERY_S = 2;

/**
 * @param {string} condition a command
 * @param {object} options
 * @param {number} options.within ms
 * @param {string} options.late message if the condition is not met in time: the state, and where to look
 * @returns {string} script that looks until it holds, and fails when the time is over
 */
export const until = (condition, { within, late }) =>
  `end=$(($(date +%s) + ${Math.ceil(within / 1000)}))
until ${condition}; do
  if [ "$(date +%s)" -ge "$end" ]; then echo "After ${durationText(within)} ${late}" >&2; exit 1; fi
  sleep ${LOOK_EVERY_S}
done`;
