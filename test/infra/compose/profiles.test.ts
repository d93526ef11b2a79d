import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { useStarted } from '../../support/clean-ups.ts';
import { INSTALLS_MS, loadCompose } from '../../support/compose/index.ts';

// The services that the profiles of docker-compose.yml add.

const run = promisify(execFile);
const MONITORING = 'infra/compose/monitoring';

const stack = useStarted(loadCompose, ({ remove }) => remove(), INSTALLS_MS);

test('Compose profile monitoring: Prometheus: promtool accepts the configuration with the rules of infra/monitoring', async () => {
  const home = join(stack.secrets, 'prometheus');
  cpSync('infra/monitoring/prometheus/rules', join(home, 'rules'), { recursive: true });
  const configuration = readFileSync(`${MONITORING}/prometheus.yml`, 'utf8');
  const local = configuration.replaceAll(/\/run\/secrets\/\w+/g, (path) => stack.secretFile(path));
  expect(local).not.toBe(configuration);
  writeFileSync(join(home, 'prometheus.yml'), local);
  const { stdout } = await run('promtool', ['check', 'config', join(home, 'prometheus.yml')]);
  expect(stdout).toContain('2 rule files found');
  const { prometheus } = stack.compose.services;
  for (const [path] of configuration.matchAll(/\/run\/secrets\/\w+/g)) {
    expect(prometheus.secrets).toContain(path.split('/').at(-1));
  }
});

test('Compose profile monitoring: addresses in the configuration: each names a service and the port of that service', async () => {
  const files = ['prometheus.yml', 'datasources.yml', 'config.alloy'].map((name) =>
    readFileSync(`${MONITORING}/${name}`, 'utf8'),
  );
  const asked = [...files, JSON.stringify(stack.compose)].flatMap((text) =>
    [...text.matchAll(/(?:https?:\/\/|targets: \[")([a-z][\w-]+):(\d+)/g)].map((match) => match.slice(1)),
  );
  const ports = { prometheus: 9090, alertmanager: 9093, loki: 3100, api: 8080, janusgraph: 8182 };
  expect(new Set(asked.map(([name]) => name))).toEqual(new Set(Object.keys(ports)));
  for (const [name, port] of asked) expect(ports).toHaveProperty(String(name), Number(port));
  expect(stack.compose.services).toMatchObject({ prometheus: {}, alertmanager: {}, loki: {}, api: {} });
});
