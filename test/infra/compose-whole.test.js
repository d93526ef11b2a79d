import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeInOneFile } from '../../infra/tls/one-file.js';
import { startApi, startCommand } from '../support/api-process.js';
import { INSTALLS_MS, interpolate, loadCompose } from '../support/compose.js';
import { prepareBroker } from '../support/compose-broker.js';
import { prepareSmoke } from '../support/compose-smoke.js';
import { startTestEngine } from '../support/engine.js';
import { startPrometheusWith } from '../support/monitoring/servers.js';
import { startSimulator } from '../support/simulator-process.js';
import { until } from '../support/until.js';

/** @import { TestEngine } from '../support/engine.js' */

// The services of docker-compose.yml as processes of this machine: their environments, commands, secrets and certificates, in their
// order, with Cassandra in the place of ScyllaDB. Only addresses, ports and paths are others. Then smoke.sh and Prometheus look at it all.

const run = promisify(execFile);

/** As in `.env`: what all that is held to them must get. */
const STORED = { LATEST_GROUPS: '4', BATCH_DAYS: '8' };

/** @type {Array<() => unknown>} what ends what was begun, the last first */
const ends = [];
/** @type {Awaited<ReturnType<typeof loadCompose>>} */
let stand;
/** @type {string} */
let directory;
/** @type {Awaited<ReturnType<typeof prepareBroker>>} */
let broker;
/** @type {TestEngine} */
let engine;

beforeAll(async () => {
  stand = await loadCompose();
  ends.push(stand.remove);
  directory = mkdtempSync(join(tmpdir(), 'millrace-whole-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'broker'));
  broker = await prepareBroker({ directory: join(directory, 'broker'), secrets: stand.secrets });
  await broker.start();
  ends.push(() => broker.stop());
  const pem = join(directory, 'server.pair');
  await writeInOneFile(pem, {
    cert: join(stand.secrets, 'server.pem'),
    key: join(stand.secrets, 'server.key'),
  });
  const tls = { pem, ca: join(stand.secrets, 'ca.pem'), optional: true };
  engine = await startTestEngine({ auth: true, tls });
  ends.push(() => engine.dispose());
}, 2 * INSTALLS_MS);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
}, INSTALLS_MS);

/** @param {string} text of docker-compose.yml @returns {string} what it is on this machine */
const here = (text) =>
  text
    .replace(/\/run\/secrets\/\w+/, (path) => stand.secretFile(path))
    .replace(/^cql(:9142)?$/, engine.contactPoint)
    .replace('mqtt://mosquitto:1883', `mqtt://127.0.0.1:${broker.port}`)
    .replace('mqtts://mosquitto:8883', `mqtts://127.0.0.1:${broker.tlsPort}`)
    .replace(/^0\.0\.0\.0$/, '127.0.0.1');

/** @param {string} name of a service @param {Record<string, string>} [others] @returns {Record<string, string>} */
function environmentOf(name, others) {
  const { DATA_DIR: _, ...environment } = stand.compose.services[name].environment;
  const local = Object.entries(environment).map(([key, value]) => [key, here(interpolate(value, STORED))]);
  return { ...Object.fromEntries(local), HTTP_PORT: '0', ...others };
}

/** @param {string} name @returns {string[]} what stands behind its program */
const argumentsOf = (name) => {
  const command = /** @type {string[]} */ (stand.compose.services[name].command);
  return command.slice(command.findIndex((part) => part.endsWith('.js')) + 1).map(here);
};

/** The health check of a container, where the service listens here. @param {string} name @param {string} port */
const checkHealth = (name, port) =>
  run(process.execPath, ['infra/compose/ready.js'], {
    env: { ...environmentOf(name), HTTP_PORT: port, PATH: process.env['PATH'] },
  });

/** Prometheus's configuration, with names and secrets of this machine. @param {string} api port @param {string} https port */
const prometheusHere = (api, https) =>
  readFileSync('infra/compose/monitoring/prometheus.yml', 'utf8')
    .replaceAll(/\/run\/secrets\/\w+/g, (path) => stand.secretFile(path))
    .replace('api:8080', `127.0.0.1:${api}`)
    // Nobody here is called https; it still has to show a certificate for that name.
    .replace(/dns_sd_configs:\n.*names: \[https\].*/, `static_configs: [{ targets: ["127.0.0.1:${https}"] }]`)
    .replace(/ {2}- job_name: scylla.*/s, '');

test('what docker-compose.yml says works, in its order, and smoke.sh and Prometheus see it', async () => {
  // Cassandra has its superuser by another name.
  const superuser = { CQL_USERNAME: 'cassandra', CQL_PASSWORD: 'cassandra' };
  const { CQL_PASSWORD_FILE: _, ...ofRoles } = environmentOf('roles', superuser);
  const first = {
    script: /** @type {const} */ ('api/commands/roles.js'),
    environment: ofRoles,
    args: argumentsOf('roles'),
  };
  const second = {
    script: /** @type {const} */ ('api/commands/migrate.js'),
    environment: environmentOf('migrate'),
    args: [],
  };
  for (const { script, environment, args } of [first, second]) {
    const { code, output } = await startCommand(script, environment, args).ended;
    expect([script, code, output]).toEqual([script, 0, output]);
  }
  const api = await startApi(environmentOf('api'));
  ends.push(() => api.kill());
  const https = await startApi(environmentOf('https'));
  ends.push(() => https.kill());
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
    secrets: stand.secrets,
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
  ends.push(() => prometheus.stop());
  await until(async () => (await prometheus.ask('count(up{job="millrace"} == 1)')) === 2);
  expect(await prometheus.ask('sum(iot_ingest_samples_total)')).toBeGreaterThan(0);
}, 300_000);
