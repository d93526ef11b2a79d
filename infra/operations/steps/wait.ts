import { durationText } from '../../../common/durations.ts';

/** Seconds. The tasks take minutes. */
const LOOK_EVERY_S = 2;

/** @param condition a command */
export const until = (
  condition: string,
  {
    within,
    late,
  }: {
    /** ms */
    within: number;
    /** the state, and where to look for the cause */
    late: string;
  },
): string =>
  `end=$(($(date +%s) + ${Math.ceil(within / 1000)}))
until ${condition}; do
  if [ "$(date +%s)" -ge "$end" ]; then echo "After ${durationText(within)} ${late}" >&2; exit 1; fi
  sleep ${LOOK_EVERY_S}
done`;
