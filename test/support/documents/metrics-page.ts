import { GENERATED } from '../../../docs/.vitepress/generated.js';

const ROW = /^\| `(iot_\w+)`(?: `\{([\w, ]+)\}`)? \| (\w+) \| (.+) \|$/;

export const documentedMetrics = (): Array<{ name: string; labels: string[]; type: string; help: string }> =>
  String(GENERATED['metrics']?.())
    .split('\n')
    .flatMap((line) => {
      const [, name = '', labels = '', type = '', help = ''] = ROW.exec(line) ?? [];
      return name ? [{ name, labels: labels.split(', ').filter(Boolean), type, help }] : [];
    });

const HELP_OR_TYPE = /^# (HELP|TYPE) (iot_\w+) (.+)$/;

/**
 * Returns the metrics in an answer to Prometheus, without labels, because only values that were counted already
 * have labels.
 * @param text of `/metrics`
 */
export function exposedMetrics(text: string): Array<{ name: string; type: string; help: string }> {
  const found: Map<string, Record<string, string>> = new Map();
  for (const line of text.split('\n')) {
    const [, kind = '', name = '', content = ''] = HELP_OR_TYPE.exec(line) ?? [];
    if (name) found.set(name, { ...found.get(name), [kind]: content });
  }
  return [...found].map(([name, { TYPE = '', HELP = '' }]) => ({ name, type: TYPE, help: HELP }));
}
