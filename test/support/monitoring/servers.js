import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../infra/engine/ports.js';
import { until } from '../until.js';

const HOME = 'infra/monitoring';

/** The rules wait for minutes, a test for seconds. @param {string} yaml */
const hastened = (yaml) =>
  yaml
    .replaceAll(/\b(for|group_wait|group_interval|scrape_interval|evaluation_interval): \d+[smh]/g, '$1: 1s')
    .replaceAll('[1m]', '[5s]');

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} url answers when it runs
 */
async function launch(program, args, url) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = `${said}${text}`.slice(-4000);
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${said}`);
    return (await fetch(`${url}/-/ready`).catch(() => null))?.ok;
  });
  return async () => {
    if (child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
}

/**
 * A real Alertmanager with our routes, in a hurry.
 *
 * @param {{ webhooks: string }} parts where the receivers of the routes are
 */
export async function startAlertmanager({ webhooks }) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-alertmanager-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(directory, 'alertmanager.yml');
  const ours = readFileSync(`${HOME}/alertmanager/alertmanager.yml`, 'utf8');
  writeFileSync(file, hastened(ours).replaceAll('http://127.0.0.1:9095', webhooks));
  const end = await launch(
    'prometheus-alertmanager',
    [
      `--config.file=${file}`,
      `--storage.path=${join(directory, 'data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
      '--cluster.listen-address=',
    ],
    url,
  );
  return {
    url,
    /** @returns {Promise<string[]>} names of the alerts that it holds as active */
    async active() {
      const alerts = await (await fetch(`${url}/api/v2/alerts?active=true`)).json();
      return alerts.map((/** @type {{ labels: { alertname: string } }} */ { labels }) => labels.alertname);
    },
    async stop() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * A real Prometheus with our configuration and rules, in a hurry.
 *
 * @param {{ target: string, alertmanager: string }} parts URLs
 */
export function startPrometheus({ target, alertmanager }) {
  const ours = readFileSync(`${HOME}/prometheus/prometheus.yml`, 'utf8');
  const here = ours
    .replace('127.0.0.1:8080', new URL(target).host)
    .replace('127.0.0.1:9093', new URL(alertmanager).host);
  return startPrometheusWith(here);
}

/**
 * A real Prometheus with our rules, in a hurry.
 *
 * @param {string} configuration addresses are those of this machine
 */
export async function startPrometheusWith(configuration) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-prometheus-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, hastened(configuration));
  mkdirSync(join(directory, 'rules'));
  for (const name of readdirSync(`${HOME}/prometheus/rules`)) {
    const rules = readFileSync(`${HOME}/prometheus/rules/${name}`, 'utf8');
    writeFileSync(join(directory, 'rules', name), hastened(rules));
  }
  const end = await launch(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
    ],
    url,
  );
  /** @param {string} path below /api/v1 @returns {Promise<any>} */
  const get = async (path) => (await (await fetch(`${url}/api/v1/${path}`)).json()).data;
  return {
    /** @param {string} query PromQL @returns {Promise<number | null>} the value of its first series */
    async ask(query) {
      const { result } = await get(`query?query=${encodeURIComponent(query)}`);
      return result.length > 0 ? Number(result[0].value[1]) : null;
    },
    /** @returns {Promise<string[]>} rules that could not be evaluated, and why */
    async brokenRules() {
      const { groups } = await get('rules');
      return groups
        .flatMap((/** @type {{ rules: Array<{ name: string, lastError?: string }> }} */ { rules }) => rules)
        .flatMap((/** @type {{ name: string, lastError?: string }} */ { name, lastError }) =>
          lastError ? [`${name}: ${lastError}`] : [],
        );
    },
    async stop() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
