import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeCombinedPem } from '../../../infra/tls/combined-pem.ts';
import { prepareBroker } from '../../support/compose/broker.ts';
import { INSTALLS_MS, interpolate, loadCompose } from '../../support/compose/index.ts';
import { prepareSmoke } from '../../support/compose/smoke.ts';
import { startTestEngine, type TestEngine } from '../../support/database/engine.ts';
import { startPrometheusWith } from '../../support/monitoring/servers.ts';
import { startApi, startCommand } from '../../support/processes/api-process.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';

// Runs the services of docker-compose.yml as processes, in their order, with their environments, commands, secrets and certificates.
// Cassandra replaces ScyllaDB. Only addresses, ports and paths differ. Then smoke.sh and Prometheus check the whole.

const run = promisify(execFile);

/** Settings of `.env` that migrate stores, so that every process must get them. */
const STORED = { LATEST_GROUPS: '4', BATCH_DAYS: '8' };

/** clean-ups, run in reverse order */
const cleanUps: Array<() => unknown> = [];
let stack: Awaited<ReturnType<typeof loadCompose>>;
let directory: string;
let broker: Awaited<ReturnType<typeof prepareBroker>>;
let engine: TestEngine;

beforeAll(async () => {
  stack = await loadCompose();
  cleanUps.push(stack.remove);
  directory = mkdtempSync(join(tmpdir(), 'millrace-whole-'));
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'broker'));
  broker = await prepareBroker({ directory: join(directory, 'broker'), secrets: stack.secrets });
  await broker.start();
  cleanUps.push(() => broker.stop());
  const pem = join(directory, 'server.pair');
  await writeCombinedPem(pem, {
    cert: join(stack.secrets, 'server.pem'),
    key: join(stack.secrets, 'server.key'),
  });
  const tls = { pem, ca: join(stack.secrets, 'ca.pem'), optional: true };
  engine = await startTestEngine({ auth: true, tls });
  cleanUps.push(() => engine.dispose());
}, 2 * INSTALLS_MS);

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}, INSTALLS_MS);

/** @param text a value in docker-compose.yml @returns the value with addresses and paths of this test */
const local = (text: string): string =>
  text
    .replace(/\/run\/secrets\/\w+/, (path) => stack.secretFile(path))
    .replace(/^cql(:9142)?$/, engine.contactPoint)
    .replace('mqtt://mosquitto:1883', `mqtt://127.0.0.1:${broker.port}`)
    .replace('mqtts://mosquitto:8883', `mqtts://127.0.0.1:${broker.tlsPort}`)
    .replace(/^0\.0\.0\.0$/, '127.0.0.1');

/**
 * Makes the environment of a service in docker-compose.yml, with the addresses and paths of this test.
 * @param name of the service
 * @param others variables that are added or replaced
 */
function environmentOf(name: string, others?: Record<string, string>): Record<string, string> {
  const { DATA_DIR: _, ...environment } = stack.compose.services[name].environment;
  const entries = Object.entries(environment).map(([key, value]) => [key, local(interpolate(value, STORED))]);
  return { ...Object.fromEntries(entries), HTTP_PORT: '0', ...others };
}

/** @param name of a service @returns the arguments after the program in its command */
const argumentsOf = (name: string): string[] => {
  const command = stack.compose.services[name].command as string[];
  return command.slice(command.findIndex((word) => /\.[jt]s$/.test(word)) + 1).map(local);
};

/** Runs the health check of a service against its local process. @param name of the service */
const checkHealth = (name: string, port: string) =>
  run(process.execPath, ['infra/compose/ready.ts'], {
    env: { ...environmentOf(name), HTTP_PORT: port, PATH: process.env['PATH'] },
  });

const prometheusHere = (api: string, https: string) =>
  readFileSync('infra/compose/monitoring/prometheus.yml', 'utf8')
    .replaceAll(/\/run\/secrets\/\w+/g, (path) => stack.secretFile(path))
    .replace('api:8080', `127.0.0.1:${api}`)
    // No host here is called https. The process still has to present a certificate for that name.
    .replace(/dns_sd_configs: .*names: \[https\].*/, `static_configs: [{ targets: ["127.0.0.1:${https}"] }]`)
    .replace(/ {2}- job_name: scylla.*/s, '');

test('Compose: all services run with the settings of docker-compose.yml: smoke.sh and Prometheus report success', async () => {
  // The superuser of Cassandra has another name than that of ScyllaDB.
  const superuser = { CQL_USERNAME: 'cassandra', CQL_PASSWORD: 'cassandra' };
  const { CQL_PASSWORD_FILE: _, ...rolesEnvironment } = environmentOf('roles', superuser);
  const first = {
    script: 'api/features/roles/command.ts' as const,
    environment: rolesEnvironment,
    args: argumentsOf('roles'),
  };
  const second = {
    script: 'api/commands/migrate.ts' as const,
    environment: environmentOf('migrate'),
    args: [],
  };
  for (const { script, environment, args } of [first, second]) {
    const { code, output } = await startCommand(script, environment, args).ended;
    expect([script, code, output]).toEqual([script, 0, output]);
  }
  const api = await startApi(environmentOf('api'));
  cleanUps.push(() => api.kill());
  const https = await startApi(environmentOf('https'));
  cleanUps.push(() => https.kill());
  const ports = [api, https].map(({ httpUrl }) => new URL(httpUrl).port);
  await checkHealth('api', String(ports[0]));
  await checkHealth('https', String(ports[1]));

  const flags = [
    ...argumentsOf('simulator'),
    ...'--devices 2 --interval 100ms --batch 500ms --duration 2s'.split(' '),
  ];
  const simulated = await startSimulator(flags, environmentOf('simulator')).ended;
  expect([simulated.code, simulated.output]).toEqual([0, simulated.output]);

  const { script, programs } = prepareSmoke({
    home: join(directory, 'checkout'),
    secrets: stack.secrets,
    broker: { run: join(directory, 'broker', 'run'), port: broker.port },
  });
  const { stdout } = await run('/bin/sh', [script, 'tls'], {
    env: {
      PATH: `${programs}${delimiter}${process.env['PATH']}`,
      HTTP_PORT: ports[0],
      HTTPS_PORT: ports[1],
      MQTTS_PORT: String(broker.tlsPort),
    },
  });
  expect(stdout).toContain('All of it works.');

  const prometheus = await startPrometheusWith(prometheusHere(String(ports[0]), String(ports[1])));
  cleanUps.push(() => prometheus.stop());
  await until(async () => (await prometheus.ask('count(up{job="millrace"} == 1)')) === 2);
  expect(await prometheus.ask('sum(iot_ingest_samples_total)')).toBeGreaterThan(0);
}, 300_000);
