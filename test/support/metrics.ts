/**
 * @param text of `/metrics`
 * @param series name and labels as Prometheus writes them, e.g. `iot_ingest_dead_letters_total{code="bad_id"}`
 * @returns undefined: the text has no such line
 */
export function readSeries(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/**
 * @param series name and labels as Prometheus writes them, e.g. `iot_ingest_dead_letters_total{code="bad_id"}`
 * @returns 0 if nothing was counted yet
 */
export async function readMetric({ httpUrl }: { httpUrl: string }, series: string): Promise<number> {
  return readSeries(await (await fetch(`${httpUrl}/metrics`)).text(), series) ?? 0;
}

/**
 * @param statement its name in the store
 * @returns how many of its requests succeeded
 */
export const readRequests = (system: { httpUrl: string }, statement: string): Promise<number> =>
  readMetric(system, `iot_db_request_seconds_count{query="${statement}",ok="true"}`);
