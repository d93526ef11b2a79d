import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { answers, startProgram } from '../../../tools/bench/process/program.ts';

interface Data {
  result: { value: [time: number, value: string] }[];
  groups: { rules: { name: string; lastError?: string }[] }[];
}

const HOME = 'infra/monitoring';

/** Shortens the intervals, because the rules wait for minutes. */
const shortened = (yaml: string) =>
  yaml
    .replaceAll(/\b(for|group_wait|group_interval|scrape_interval|evaluation_interval): \d+[smh]/g, '$1: 1s')
    .replaceAll('[1m]', '[5s]');

/** With the routes of infra/monitoring, and short intervals. */
export async function startAlertmanager({ webhooks }: { webhooks: string }) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-alertmanager-'));
  const url = `http://127.0.0.1:${await steadyPort()}`;
  const file = join(directory, 'alertmanager.yml');
  const original = readFileSync(`${HOME}/alertmanager/alertmanager.yml`, 'utf8');
  writeFileSync(file, shortened(original).replaceAll('http://127.0.0.1:9095', webhooks));
  const alertmanager = await startProgram({
    title: 'Alertmanager',
    command: 'prometheus-alertmanager',
    args: [
      `--config.file=${file}`,
      `--storage.path=${join(directory, 'data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
      '--cluster.listen-address=',
    ],
    log: join(directory, 'log'),
    isReady: () => answers(`${url}/-/ready`),
  });
  return {
    url,
    async annotationsOf(name: string): Promise<Record<string, string> | undefined> {
      const alerts = await (await fetch(`${url}/api/v2/alerts`)).json();
      return alerts.find(({ labels }: { labels: { alertname: string } }) => labels.alertname === name)
        ?.annotations;
    },
    async active(): Promise<string[]> {
      const alerts = await (await fetch(`${url}/api/v2/alerts?active=true`)).json();
      return alerts.map(({ labels }: { labels: { alertname: string } }) => labels.alertname);
    },
    async stop() {
      await alertmanager.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** With the configuration and rules of infra/monitoring, and short intervals. */
export function startPrometheus({ target, alertmanager }: { target: string; alertmanager: string }) {
  const original = readFileSync(`${HOME}/prometheus/prometheus.yml`, 'utf8');
  const configuration = original
    .replace('127.0.0.1:8080', new URL(target).host)
    .replace('127.0.0.1:9093', new URL(alertmanager).host);
  return startPrometheusWith(configuration);
}

/** With the rules of infra/monitoring, and short intervals. */
export async function startPrometheusWith(configuration: string) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-prometheus-'));
  const url = `http://127.0.0.1:${await steadyPort()}`;
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, shortened(configuration));
  mkdirSync(join(directory, 'rules'));
  for (const name of readdirSync(`${HOME}/prometheus/rules`)) {
    const rules = readFileSync(`${HOME}/prometheus/rules/${name}`, 'utf8');
    writeFileSync(join(directory, 'rules', name), shortened(rules));
  }
  const prometheus = await startProgram({
    title: 'Prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
    ],
    log: join(directory, 'log'),
    isReady: () => answers(`${url}/-/ready`),
  });
  /** @param path below /api/v1 */
  const get = async (path: string): Promise<Data> =>
    (await (await fetch(`${url}/api/v1/${path}`)).json()).data;
  return {
    /** @param query PromQL @returns the value of its first series */
    async ask(query: string): Promise<number | null> {
      const { result } = await get(`query?query=${encodeURIComponent(query)}`);
      return result.length > 0 ? Number(result[0]?.value[1]) : null;
    },
    async brokenRules(): Promise<string[]> {
      const { groups } = await get('rules');
      return groups
        .flatMap(({ rules }) => rules)
        .flatMap(({ name, lastError }) => (lastError ? [`${name}: ${lastError}`] : []));
    },
    async stop() {
      await prometheus.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
