/**
 * @param {{ httpUrl: string }} system
 * @param {string} series name and labels as Prometheus writes them, e.g. `iot_ingest_dead_letters_total{code="bad_id"}`
 * @returns {Promise<number>} 0 where nothing was counted yet
 */
export async function readMetric({ httpUrl }, series) {
  const text = await (await fetch(`${httpUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line ? Number(line.slice(series.length + 1)) : 0;
}
