import { durationText } from '../../../common/durations.ts';

/** Interval of the checks of a task that takes minutes, in s. */
const LOOK_EVERY_S = 2;

/**
 * @param condition a command that succeeds when the condition is met
 * @returns script that repeats the command until it succeeds, and fails when the time is over
 */
export const until = (
  condition: string,
  {
    within,
    late,
  }: {
    /** time limit in ms */
    within: number;
    /** message if the condition is not met in time: the state, and where to look for the cause */
    late: string;
  },
): string =>
  `end=$(($(date +%s) + ${Math.ceil(within / 1000)}))
until ${condition}; do
  if [ "$(date +%s)" -ge "$end" ]; then echo "After ${durationText(within)} ${late}" >&2; exit 1; fi
  sleep ${LOOK_EVERY_S}
done`;
