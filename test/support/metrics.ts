/**
 * @param {string} text of `/metrics`
 * @param {string} series name and labels as Prometheus writes them, e.g. `iot_ingest_dead_letters_total{code="bad_id"}`
 * @returns {number | undefined} undefined: the text has no such line
 */
export function readSeries(text, series) {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/**
 * @param {{ httpUrl: string }} system
 * @param {string} series name and labels as Prometheus writes them, e.g. `iot_ingest_dead_letters_total{code="bad_id"}`
 * @returns {Promise<number>} 0 if nothing was counted yet
 */
export async function readMetric({ httpUrl }, series) {
  return readSeries(await (await fetch(`${httpUrl}/metrics`)).text(), series) ?? 0;
}
