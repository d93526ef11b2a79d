import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { ensurePython, readYaml } from '../../../infra/python/ensure.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { documentedMetrics } from '../../support/documents/metrics-page.ts';
import type { Json } from '../../support/json.ts';
import { logqlErrors } from '../../support/monitoring/logql.ts';
import { readPromql } from '../../support/monitoring/promql.ts';
import { SCYLLA_METRICS } from '../../support/monitoring/scylla-metrics.ts';

// The tools of Prometheus and Alertmanager test the rules. The grammars of their editors parse the expressions.

const afterwards = useCleanUps();
const run = promisify(execFile);
const HOME = 'infra/monitoring';

const INSTALLS_MS = 180_000;

type Rule = {
  alert?: string;
  record?: string;
  expr: string;
  annotations?: { summary: string; runbook: string };
  labels?: { severity: string };
};

let rules: Rule[];
let logRules: Rule[];
type Row = { at: string; alert: string; labels: string | undefined; summary: string | undefined };
type Case = {
  name: string;
  interval?: string;
  series: Record<string, string>;
  alerts: Row[];
};
let cases: Case[];

beforeAll(async () => {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const rulesIn = async (folder: string): Promise<Rule[]> => {
    const files = readdirSync(folder).map((name) => readYaml(python, `${folder}/${name}`));
    return (await Promise.all(files)).flatMap(({ groups }) =>
      groups.flatMap((group: { rules: Rule[] }) => group.rules),
    );
  };
  rules = await rulesIn(`${HOME}/prometheus/rules`);
  logRules = await rulesIn(`${HOME}/loki/rules/fake`);
  const written: Array<Omit<Case, 'alerts'> & { alerts: string[] }> = await readYaml(
    python,
    'test/infra/monitoring/alerts.yml',
  );
  cases = written.map((each) => ({ ...each, alerts: each.alerts.map(rowOf) }));
}, INSTALLS_MS);

/** @param text `TIME ALERT`, and if it fires ` SEVERITY LABEL=VALUE … -> SUMMARY` */
function rowOf(text: string): Row {
  const [, at = '', alert = '', labels, summary] = /^(\S+) (\w+)(?: (.+?) -> (.+))?$/.exec(text) ?? [];
  return { at, alert, labels, summary };
}

const ruleTest = ({ name, interval = '15s', series, alerts }: Case) => ({
  name,
  interval,
  input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
  alert_rule_test: alerts.map(({ at, alert }) => ({
    eval_time: at,
    alertname: alert,
    exp_alerts: alerts.flatMap(({ labels, summary, ...row }) => {
      if (row.at !== at || row.alert !== alert || !labels) return [];
      const [severity, ...others] = labels.split(' ');
      const exp_labels = { severity, ...Object.fromEntries(others.map((label) => label.split('='))) };
      const runbook = `docs/how-to/respond-to-alerts.md#${alert.toLowerCase()}`;
      return [{ exp_labels, exp_annotations: { summary, runbook } }];
    }),
  })),
});

/** @returns the metrics of Node.js, which are the same in every process */
const nodeMetrics = (): string[] =>
  createMetrics({ version: 'test', role: 'all' })
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('iot_'));

const series = (): Set<string> => {
  const application = documentedMetrics().flatMap(({ name, type }) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
  );
  const node = nodeMetrics().flatMap((name) => [name, `${name}_sum`, `${name}_count`, `${name}_bucket`]);
  const recorded = rules.flatMap(({ record }) => record ?? []);
  return new Set([...application, ...node, ...recorded, ...SCYLLA_METRICS, 'up']);
};

const dashboards = (folder: string = 'dashboards'): Json[] =>
  readdirSync(`${HOME}/grafana/${folder}`).map((name) =>
    JSON.parse(readFileSync(`${HOME}/grafana/${folder}/${name}`, 'utf8')),
  );

const expressions = (): string[] => [
  ...rules.map(({ expr }) => expr),
  ...dashboards().flatMap(({ panels }) =>
    panels.flatMap(({ targets }: { targets: Array<{ expr: string }> }) => targets.map(({ expr }) => expr)),
  ),
];

test('Prometheus: configuration and rules: promtool finds no error', async () => {
  const { stdout } = await run('promtool', ['check', 'config', `${HOME}/prometheus/prometheus.yml`]);
  expect(stdout).toContain('2 rule files found');
});

test('Prometheus: test cases of the alerts: each alert fires exactly when its test case expects it', async () => {
  const rule_files = ['recording', 'alerts'].map((name) => resolve(`${HOME}/prometheus/rules/${name}.yml`));
  const file = join(await mkdtemp(join(tmpdir(), 'millrace-rules-')), 'tests.json');
  afterwards(() => rm(dirname(file), { recursive: true }));
  await writeFile(
    file,
    JSON.stringify({ rule_files, evaluation_interval: '15s', tests: cases.map(ruleTest) }),
  );
  const { stdout } = await run('promtool', ['test', 'rules', file]);
  expect(stdout).toContain('SUCCESS');
  // promtool computes for a minute on a quiet core, and shares it on a busy machine.
}, 600_000);

test('Prometheus: test cases of the alerts: each alert has a case where it fires and a case where it does not', () => {
  const tested = cases.flatMap(({ alerts }) =>
    alerts.map(({ alert, labels }) => `${alert} ${labels !== undefined}`),
  );
  const alerts = rules.flatMap(({ alert }) => (alert ? [`${alert} true`, `${alert} false`] : []));
  expect([...new Set(tested)].sort()).toEqual(alerts.sort());
  expect(alerts.length).toBeGreaterThanOrEqual(20);
});

describe('Alertmanager', () => {
  const file = `${HOME}/alertmanager/alertmanager.yml`;

  test('Alertmanager: configuration: amtool finds no error', async () => {
    const { stdout } = await run('amtool', ['check-config', file]);
    expect(stdout).toContain('SUCCESS');
  });

  test.each([
    ['critical', 'night'],
    ['warning', 'day'],
  ])('Alertmanager: alert of severity %s: goes to the receiver %s', async (severity, receiver) => {
    const args = ['config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`];
    expect((await run('amtool', args)).stdout.trim()).toBe(receiver);
  });
});

test('Prometheus rules and Grafana dashboards: expressions: valid PromQL', () => {
  expect(expressions().flatMap((expr) => readPromql(expr).errors)).toEqual([]);
  expect(expressions().length).toBeGreaterThan(60);
  expect(readPromql('sum(rate(a[5m])').errors).not.toEqual([]);
});

test('Prometheus rules and Grafana dashboards: queried metrics: a process exposes or a rule records each metric', () => {
  const known = series();
  const named = new Set(expressions().flatMap((expr) => readPromql(expr).metrics));
  for (const { templating } of dashboards()) {
    for (const { query } of templating.list) {
      for (const [, name = ''] of (query.query ?? '').matchAll(/label_values\((\w+)/g)) named.add(name);
    }
  }
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
  expect(named).toContain('iot_build_info');
});

test('Loki rules: expressions: valid LogQL', () => {
  expect(logRules.flatMap(({ expr }) => logqlErrors(expr))).toEqual([]);
  expect(logRules.length).toBe(3);
  expect(logqlErrors('sum(count_over_time({a="b"}')).not.toEqual([]);
});

test('Metrics of the application: use: a Prometheus rule or a Grafana dashboard queries each metric', () => {
  const named = new Set(expressions().flatMap((expr) => readPromql(expr).metrics));
  const isUsed = (name: string) =>
    named.has(name) || ['bucket', 'sum', 'count'].some((part) => named.has(`${name}_${part}`));
  expect(documentedMetrics().flatMap(({ name }) => (isUsed(name) ? [] : [name]))).toEqual([]);
});

test('Prometheus and Loki alerts: severity and documentation: each has both, in docs/how-to/respond-to-alerts.md', () => {
  const page = readFileSync('docs/how-to/respond-to-alerts.md', 'utf8');
  const sections = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n')[0] as string, section]),
  );
  for (const { alert, labels, annotations } of [...rules, ...logRules]) {
    if (!alert) continue;
    expect(['critical', 'warning']).toContain(labels?.severity);
    expect(annotations?.runbook).toBe(`docs/how-to/respond-to-alerts.md#${alert.toLowerCase()}`);
    const section = sections.get(alert) ?? `no section for ${alert}`;
    // The summary has the meaning of the alert. The page adds to it where that is not enough.
    expect([alert, annotations?.summary]).toEqual([alert, expect.any(String)]);
    for (const heading of ['**See.**', '**Do.**']) expect(section).toContain(heading);
  }
});
