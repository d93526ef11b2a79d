import { readFileSync } from 'node:fs';

const ROW = /^\| `(iot_\w+)`(?: `\{([\w, ]+)\}`)? \| (\w+) \| (.+) \|$/;

/**
 * Returns the rows of `docs/reference/metrics.md`.
 *
 * @returns {Array<{ name: string, labels: string[], type: string, help: string }>}
 */
export const documentedMetrics = () =>
  readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name = '', labels = '', type = '', help = ''] = ROW.exec(line) ?? [];
      return name ? [{ name, labels: labels.split(', ').filter(Boolean), type, help }] : [];
    });

const HELP_OR_TYPE = /^# (HELP|TYPE) (iot_\w+) (.+)$/;

/**
 * Returns the metrics in an answer to Prometheus, without labels, because only values that were counted already
 * have labels.
 *
 * @param {string} text of `/metrics`
 * @returns {Array<{ name: string, type: string, help: string }>}
 */
export function exposedMetrics(text) {
  /** @type {Map<string, Record<string, string>>} */
  const found = new Map();
  for (const line of text.split('\n')) {
    const [, kind = '', name = '', content = ''] = HELP_OR_TYPE.exec(line) ?? [];
    if (name) found.set(name, { ...found.get(name), [kind]: content });
  }
  return [...found].map(([name, { TYPE = '', HELP = '' }]) => ({ name, type: TYPE, help: HELP }));
}
