import { durationText } from '../../../common/durations.js';

/** Interval of the checks of a task that takes minutes, in s. */
const LOOK_EVERY_S = 2;

/**
 * @param {string} condition a command that succeeds when the condition is met
 * @param {object} options
 * @param {number} options.within time limit in ms
 * @param {string} options.late message if the condition is not met in time: the state, and where to look for the cause
 * @returns {string} script that repeats the command until it succeeds, and fails when the time is over
 */
export const until = (condition, { within, late }) =>
  `end=$(($(date +%s) + ${Math.ceil(within / 1000)}))
until ${condition}; do
  if [ "$(date +%s)" -ge "$end" ]; then echo "After ${durationText(within)} ${late}" >&2; exit 1; fi
  sleep ${LOOK_EVERY_S}
done`;
