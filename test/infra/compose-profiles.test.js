import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readYaml } from '../../infra/python/ensure.js';
import { INSTALLS_MS, loadCompose } from '../support/compose.js';
import { logqlErrors } from '../support/monitoring/logql.js';

// What the profiles of docker-compose.yml add.

const run = promisify(execFile);
const MONITORING = 'infra/compose/monitoring';

/** @type {Awaited<ReturnType<typeof loadCompose>>} */
let stand;
beforeAll(async () => {
  stand = await loadCompose();
}, INSTALLS_MS);
afterAll(() => stand.remove());

/** @param {string | undefined} profile undefined: always @returns {string[]} names of its services */
const servicesOf = (profile) =>
  stand.services.filter(([, { profiles }]) => profiles?.[0] === profile).map(([name]) => name);

test('without a profile there is what a measurement needs', () => {
  expect(servicesOf(undefined)).toEqual(['scylla', 'mosquitto', 'roles', 'migrate', 'api', 'simulator']);
});

describe('cluster', () => {
  const nodes = ['scylla', 'scylla-2', 'scylla-3'];

  test('adds two nodes, each in a rack of its own, that join one after the other', () => {
    expect(servicesOf('cluster')).toEqual(nodes.slice(1));
    const racks = nodes.map((name) => stand.compose.services[name].command);
    expect(racks).toEqual([['--rack=rack1'], ['--rack=rack2'], ['--rack=rack3']]);
    for (const [index, name] of nodes.entries()) {
      const { entrypoint, networks, depends_on: needs = {} } = stand.compose.services[name];
      // One power cut takes them all.
      expect(entrypoint).toEqual(expect.arrayContaining(['--commitlog-sync=batch', '--seeds=scylla']));
      expect(networks.database.aliases).toEqual(['cql']);
      expect(Object.keys(needs)).toEqual(nodes.slice(index - 1, index));
    }
  });

  test('comes before the keyspace, whose replicas are counted then', () => {
    const { depends_on: needs } = stand.compose.services.roles;
    expect(needs['scylla-3']).toEqual({ condition: 'service_healthy', required: false });
    expect(stand.compose.services.migrate.depends_on).toHaveProperty('roles');
  });
});

describe('tls', () => {
  test('has a certificate for every name that something asks for', () => {
    expect(servicesOf('tls')).toEqual(['https']);
    const { subjectAltName } = new X509Certificate(readFileSync(join(stand.secrets, 'server.pem')));
    for (const name of ['localhost', 'mosquitto', 'cql', 'https'])
      expect(subjectAltName).toContain(`DNS:${name}`);
    expect(subjectAltName).toContain('IP Address:127.0.0.1');
  });

  test('has the broker and the nodes on the ports where https looks for them', () => {
    const { CQL_CONTACT_POINTS, MQTT_URL, HTTP_PORT } = stand.compose.services.https.environment;
    const [port] = CQL_CONTACT_POINTS.split(':').slice(-1);
    expect(stand.compose.services.scylla.entrypoint).toContain(`--native-transport-port-ssl=${port}`);
    const broker = readFileSync('infra/compose/mosquitto.conf', 'utf8');
    expect(broker).toMatch(new RegExp(`^listener ${new URL(MQTT_URL).port}\ncertfile`, 'm'));
    expect(stand.compose.services.https.ports[0]).toMatch(new RegExp(`:${HTTP_PORT}$`));
  });
});

describe('monitoring', () => {
  test('Prometheus takes its configuration, with the rules of infra/monitoring', async () => {
    const home = join(stand.secrets, 'prometheus');
    cpSync('infra/monitoring/prometheus/rules', join(home, 'rules'), { recursive: true });
    const configuration = readFileSync(`${MONITORING}/prometheus.yml`, 'utf8');
    const here = configuration.replaceAll(/\/run\/secrets\/\w+/g, (path) => stand.secretFile(path));
    expect(here).not.toBe(configuration);
    writeFileSync(join(home, 'prometheus.yml'), here);
    const { stdout } = await run('promtool', ['check', 'config', join(home, 'prometheus.yml')]);
    expect(stdout).toContain('2 rule files found');
    const { prometheus } = stand.compose.services;
    for (const [path] of configuration.matchAll(/\/run\/secrets\/\w+/g)) {
      expect(prometheus.secrets).toContain(path.split('/').at(-1));
    }
  });

  test('whatever is asked for is a service, on the port where it listens', async () => {
    const files = ['prometheus.yml', 'datasources.yml', 'config.alloy'].map((name) =>
      readFileSync(`${MONITORING}/${name}`, 'utf8'),
    );
    const asked = [...files, JSON.stringify(stand.compose)].flatMap((text) =>
      [...text.matchAll(/(?:https?:\/\/|targets: \[")([a-z][\w-]+):(\d+)/g)].map((match) => match.slice(1)),
    );
    const ports = { prometheus: 9090, alertmanager: 9093, loki: 3100, api: 8080 };
    expect(new Set(asked.map(([name]) => name))).toEqual(new Set(Object.keys(ports)));
    for (const [name, port] of asked) expect(ports).toHaveProperty(String(name), Number(port));
    expect(stand.compose.services).toMatchObject({ prometheus: {}, alertmanager: {}, loki: {}, api: {} });
  });

  test('Grafana has the data sources that the dashboards name, and the folder that they are looked for in', async () => {
    const [here, there] = await Promise.all(
      [
        `${MONITORING}/datasources.yml`,
        'infra/monitoring/grafana/provisioning/datasources/prometheus.yml',
      ].map((path) => readYaml(stand.python, path)),
    );
    const named = (/** @type {any} */ file) =>
      file.datasources.map((/** @type {any} */ { uid, type }) => `${uid} ${type}`).sort();
    expect(named(here)).toEqual(named(there));
    const provisioning = 'infra/monitoring/grafana/provisioning/dashboards';
    const { providers } = await readYaml(stand.python, `${provisioning}/millrace.yml`);
    const mounts = stand.compose.services.grafana.volumes;
    expect(mounts).toContain(`./${provisioning}:/etc/grafana/provisioning/dashboards:ro`);
    expect(mounts).toContain(`./infra/monitoring/grafana/dashboards:${providers[0].options.path}:ro`);
  });

  test("Alloy gives the database's log the labels that the log rules ask for", () => {
    const alloy = readFileSync(`${MONITORING}/config.alloy`, 'utf8');
    const selectors = [...alloy.matchAll(/selector = "(.+)"$/gm)].map(([, text]) =>
      String(text).replaceAll('\\"', '"'),
    );
    expect(selectors).toHaveLength(3);
    expect(selectors.flatMap((selector) => logqlErrors(selector))).toEqual([]);
    const rules = readFileSync('infra/monitoring/loki/rules/fake/database.yml', 'utf8');
    for (const [label] of rules.matchAll(/job="\w+"/g)) expect(alloy).toContain(label.replace('=', ' = '));
    for (const [, name] of rules.matchAll(/sum by \((\w+)\)/g))
      expect(alloy).toContain(`${name} = "container"`);
    const { tag } = stand.compose.services.scylla.logging.options;
    expect([tag, alloy.includes('attrs.tag')]).toEqual(['{{.Name}}', true]);
  });
});
