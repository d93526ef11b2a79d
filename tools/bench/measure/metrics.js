/**
 * What a process says of itself on /metrics.
 *
 * @param {string} url of the process's HTTP root
 * @returns {Promise<(name: string) => number>} sum of a metric over its labels; 0 where there is none
 */
export async function readMetrics(url) {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`${url}/metrics answers ${response.status}`);
  const text = await response.text();
  return (name) => sumOf(text, name);
}

/** @param {string} text in Prometheus' exposition format @param {string} name */
export function sumOf(text, name) {
  let sum = 0;
  for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm')))
    sum += Number(value);
  return sum;
}
