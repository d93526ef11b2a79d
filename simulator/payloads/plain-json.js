/**
 * Plain JSON: an array of `{"sensor_id","ts","value"}`, `ts` in epoch milliseconds.
 *
 * @param {import('./index.js').Series[]} series
 * @returns {string}
 */
export const encodePlainJson = (series) =>
  JSON.stringify(
    series.flatMap(({ name, samples }) => samples.map(({ ts, value }) => ({ sensor_id: name, ts, value }))),
  );
