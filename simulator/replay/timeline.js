/**
 * Where a recorded instant lands when a file is replayed: times are compressed by `speed` and shifted so that the last
 * one is now.
 *
 *     replayed(t) = now - round((last - t) / speed)
 *
 * With `speed` 60 an hour of the file takes a minute. Everything is whole epoch milliseconds, so anyone can do the same sum
 * and compare every value.
 *
 * @param {{ last: number, now: number, speed: number }} options `last`: the file's latest time; `now`: where it lands
 * @returns {(recorded: number) => number}
 */
export const createTimeline =
  ({ last, now, speed }) =>
  (recorded) =>
    now - Math.round((last - recorded) / speed);
