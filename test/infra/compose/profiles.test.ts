import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../../../infra/python/ensure.ts';
import { useStarted } from '../../support/clean-ups.ts';
import { INSTALLS_MS, loadCompose } from '../../support/compose/index.ts';
import { logqlErrors } from '../../support/monitoring/logql.ts';

// The services that the profiles of docker-compose.yml add.

const run = promisify(execFile);
const MONITORING = 'infra/compose/monitoring';

const stack = useStarted(loadCompose, ({ remove }) => remove(), INSTALLS_MS);

/** @param profile undefined: services without a profile @returns names of its services */
const servicesOf = (profile: string | undefined): string[] =>
  stack.services.filter(([, { profiles }]) => profiles?.[0] === profile).map(([name]) => name);

test('Compose without a profile: services: only database, broker, roles, migrate, API and simulator', () => {
  expect(servicesOf(undefined)).toEqual(['scylla', 'mosquitto', 'roles', 'migrate', 'api', 'simulator']);
});

describe('Profile tls', () => {
  test('Compose profile tls: certificate: valid for every host name that a client connects to', () => {
    expect(servicesOf('tls')).toEqual(['https']);
    const { subjectAltName } = new X509Certificate(readFileSync(join(stack.secrets, 'server.pem')));
    for (const name of ['localhost', 'mosquitto', 'cql', 'https'])
      expect(subjectAltName).toContain(`DNS:${name}`);
    expect(subjectAltName).toContain('IP Address:127.0.0.1');
  });

  test('Compose profile tls: service https: connects to the TLS ports of the broker and of the database nodes', () => {
    const { CQL_CONTACT_POINTS, MQTT_URL, HTTP_PORT } = stack.compose.services.https.environment;
    const [port] = CQL_CONTACT_POINTS.split(':').slice(-1);
    expect(stack.compose.services.scylla.entrypoint).toContain(`--native-transport-port-ssl=${port}`);
    const broker = readFileSync('infra/compose/listeners.conf', 'utf8');
    expect(broker).toMatch(new RegExp(`^listener ${new URL(MQTT_URL).port}\ncertfile`, 'm'));
    expect(stack.compose.services.https.ports[0]).toMatch(new RegExp(`:${HTTP_PORT}$`));
  });
});

describe('Profile kafka', () => {
  test('Compose profile kafka: Kafka console: connects to the Kafka of the profile; its port is published on loopback only', () => {
    expect(servicesOf('kafka')).toEqual(['kafka', 'kafka-console']);
    const { environment, networks, ports } = stack.compose.services['kafka-console'];
    const properties = readFileSync('infra/compose/kafka.properties', 'utf8');
    expect(properties).toContain(`advertised.listeners=CLIENTS://${environment.KAFKA_BROKERS}`);
    const { networks: own } = stack.compose.services.kafka;
    expect(networks).toEqual(expect.arrayContaining(own));
    // An internal network publishes no port.
    const isOpen = networks.some((name: string) => !stack.compose.networks[name]?.internal);
    expect([isOpen, ports]).toEqual([true, [expect.stringMatching(/^127\.0\.0\.1:/)]]);
  });
});

describe('Profile telegraf', () => {
  test('Compose profile telegraf: Telegraf: writes to the API with the token that may only ingest', () => {
    expect(servicesOf('telegraf')).toEqual(['telegraf']);
    const { environment } = stack.compose.services.telegraf;
    expect(environment.MILLRACE_TOKEN_FILE).toBe(stack.compose.services.api.environment.INGEST_TOKENS_FILE);
  });

  test('Compose profile telegraf: variables of telegraf.conf: the environment or start.sh sets each variable', () => {
    const { environment, volumes } = stack.compose.services.telegraf;
    const configuration = readFileSync('infra/compose/telegraf/telegraf.conf', 'utf8');
    const named = [...configuration.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(['MILLRACE_URL', 'MILLRACE_TOKEN', 'MODBUS_URL', 'OPCUA_URL']));
    const given = [...Object.keys(environment), 'MILLRACE_TOKEN'];
    expect(given).toEqual(expect.arrayContaining(named));
    const script = readFileSync('infra/compose/telegraf/start.sh', 'utf8');
    expect(script).toContain('export MILLRACE_TOKEN\n');
    for (const [mount] of script.matchAll(/\/opt\/millrace\/[\w.]+/g)) {
      expect(volumes.map((volume: string) => volume.split(':')[1])).toContain(mount);
    }
  });
});

describe('Profile monitoring', () => {
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
    const ports = { prometheus: 9090, alertmanager: 9093, loki: 3100, api: 8080 };
    expect(new Set(asked.map(([name]) => name))).toEqual(new Set(Object.keys(ports)));
    for (const [name, port] of asked) expect(ports).toHaveProperty(String(name), Number(port));
    expect(stack.compose.services).toMatchObject({ prometheus: {}, alertmanager: {}, loki: {}, api: {} });
  });

  test('Compose profile monitoring: Grafana: has the data sources and the dashboard folder of infra/monitoring', async () => {
    const [composeFile, monitoringFile] = await Promise.all(
      [
        `${MONITORING}/datasources.yml`,
        'infra/monitoring/grafana/provisioning/datasources/prometheus.yml',
      ].map((path) => readYaml(stack.python, path)),
    );
    const named = (file: { datasources: { uid: string; type: string }[] }) =>
      file.datasources.map(({ uid, type }) => `${uid} ${type}`).sort();
    expect(named(composeFile)).toEqual(named(monitoringFile));
    const provisioning = 'infra/monitoring/grafana/provisioning/dashboards';
    const { providers } = await readYaml(stack.python, `${provisioning}/millrace.yml`);
    const mounts = stack.compose.services.grafana.volumes;
    expect(mounts).toContain(`./${provisioning}:/etc/grafana/provisioning/dashboards:ro`);
    expect(mounts).toContain(`./infra/monitoring/grafana/dashboards:${providers[0].options.path}:ro`);
  });

  test('Compose profile monitoring: log of the database: Alloy adds the labels that the log rules use', () => {
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
    const { tag } = stack.compose.services.scylla.logging.options;
    expect([tag, alloy.includes('attrs.tag')]).toEqual(['{{.Name}}', true]);
  });
});
