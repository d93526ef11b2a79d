import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ensureTools } from '../../infra/bootstrap/index.ts';
import { runShown } from '../../infra/bootstrap/run-shown.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { installOnce } from '../bench/peers/tools.ts';
import { startProgram } from '../bench/process/program.ts';
import { jsonOf, Part, type Setup, type SubjectKind, TOPIC } from './subjects.ts';

const OURS = new URL('../../infra/mosquitto/mosquitto.conf', import.meta.url);
const HIVEMQ = fileURLToPath(new URL('HiveMq.java', import.meta.url));
const VERSIONS = { hivemq: '2025.5', nats: '2.15.2' };

const POM = `<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<dependencies><dependency><groupId>com.hivemq</groupId><artifactId>hivemq-community-edition-embedded</artifactId>
<version>${VERSIONS.hivemq}</version></dependency></dependencies></project>`;

/** Of a broker that is a program: `ready` is in its log when it accepts clients. */
type Command = { program: string; args: string[]; ready: string };

const brokerKind = (
  title: string,
  version: 4 | 5,
  configure: (port: number, setup: Setup) => Promise<Command>,
): SubjectKind => ({
  title,
  async prepare(setup) {
    const port = await steadyPort();
    const { program: command, args, ready } = await configure(port, setup);
    const log = join(setup.logs, 'broker.log');
    const isReady = (text: string) => text.includes(ready);
    const broker = new Part(() => startProgram({ title, command, args, log, isReady }));
    return {
      url: () => `mqtt://127.0.0.1:${port}`,
      version,
      parts: { broker },
      topic: TOPIC,
      write: jsonOf,
    };
  },
});

/** @param lines of its configuration, besides listener and folder */
export const mosquittoKind = (title: string, lines: () => Promise<string[]>): SubjectKind =>
  brokerKind(title, 5, async (port, setup) => {
    const { mosquitto } = await ensureTools(['mosquitto'], setup);
    const configuration = join(setup.logs, 'mosquitto.conf');
    const own = [
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      `persistence_location ${setup.data}/`,
    ];
    await writeFile(configuration, [...own, ...(await lines()), ''].join('\n'));
    return { program: String(mosquitto?.path), args: ['-c', configuration], ready: ' running' };
  });

/** Lines that belong to our container. */
const PLACES = /^(include_dir|password_file|acl_file|allow_anonymous|persistence_location|log_)/;

async function ours() {
  return (await readFile(OURS, 'utf8')).split('\n').filter((line) => !PLACES.test(line));
}

async function rabbitmq(port: number, { data, logs, ...setup }: Setup): Promise<Command> {
  await ensureTools(['rabbitmq'], setup);
  const [amqp, distribution, names] = [await steadyPort(), await steadyPort(), await steadyPort()];
  await writeFile(join(logs, 'plugins'), '[rabbitmq_mqtt].');
  await writeFile(join(logs, 'rabbitmq.conf'), `mqtt.listeners.tcp.1 = 127.0.0.1:${port}\n`);
  const environment = {
    HOME: logs,
    ERL_EPMD_PORT: names,
    RABBITMQ_NODENAME: 'acks@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: amqp,
    RABBITMQ_DIST_PORT: distribution,
    RABBITMQ_MNESIA_BASE: data,
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: join(logs, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(logs, 'plugins'),
  };
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  // The server would leave its name server behind.
  const script = `epmd & names=$!; /usr/lib/rabbitmq/bin/rabbitmq-server & server=$!
    trap 'kill $server' TERM; wait $server; wait $server; kill $names`;
  return { program: 'env', args: [...variables, 'sh', '-c', script], ready: 'Server startup complete' };
}

async function nats(port: number, setup: Setup): Promise<Command> {
  const { go } = await ensureTools(['go'], setup);
  const module = `github.com/nats-io/nats-server/v2@v${VERSIONS.nats}`;
  const folder = await installOnce(setup.tools, `nats-server-${VERSIONS.nats}`, (part) =>
    runShown(String(go?.path), ['install', module], {
      title: 'NATS',
      env: { ...process.env, GOBIN: part },
      ...setup,
    }),
  );
  const configuration = join(setup.logs, 'nats.conf');
  const lines = [
    'server_name: acks',
    'listen: "127.0.0.1:-1"',
    `jetstream { store_dir: "${setup.data}" }`,
    `mqtt { listen: "127.0.0.1:${port}" }`,
  ];
  await writeFile(configuration, lines.join('\n'));
  return { program: join(folder, 'nats-server'), args: ['-c', configuration], ready: 'Server is ready' };
}

async function hivemq(port: number, setup: Setup): Promise<Command> {
  const { java, maven } = await ensureTools(['java', 'maven'], setup);
  const jars = await installOnce(setup.tools, `hivemq-${VERSIONS.hivemq}`, async (part) => {
    await writeFile(join(part, 'pom.xml'), POM);
    const args = ['-B', 'dependency:copy-dependencies', `-DoutputDirectory=${part}`];
    await runShown(String(maven?.path), args, { title: 'HiveMQ CE', cwd: part, ...setup });
  });
  await writeFile(
    join(setup.logs, 'config.xml'),
    `<hivemq><listeners><tcp-listener><port>${port}</port><bind-address>127.0.0.1</bind-address></tcp-listener></listeners></hivemq>`,
  );
  const args = ['-cp', join(jars, '*'), HIVEMQ, setup.logs, setup.data];
  return { program: String(java?.path), args, ready: 'HiveMQ accepts clients' };
}

/** The configuration of Debian's package turns persistence on. */
const MOSQUITTO = mosquittoKind('Mosquitto 2.0.11 of Debian', async () => ['persistence true']);
export const OUR_MOSQUITTO = mosquittoKind('Mosquitto, `infra/mosquitto`', ours);

export const BROKERS: Record<string, SubjectKind> = {
  mosquitto: MOSQUITTO,
  'mosquitto-configured': OUR_MOSQUITTO,
  rabbitmq: brokerKind('RabbitMQ 3.10 of Debian', 4, rabbitmq),
  nats: brokerKind(`NATS ${VERSIONS.nats}, JetStream`, 4, nats),
  hivemq: brokerKind(`HiveMQ CE ${VERSIONS.hivemq}`, 5, hivemq),
};

interface Own {
  url: string;
  version: number;
  /** shell commands */
  start?: string;
  kill?: string;
}

/** A broker that runs already. */
export const ownBroker = ({ url, version, start = '', kill = '' }: Own): SubjectKind => ({
  title: url,
  async prepare() {
    const shell = (command: string) => promisify(execFile)('sh', ['-c', command]);
    let isKilled = false;
    const broker = new Part(async () => {
      if (isKilled) await shell(start);
      return { stop: async () => {} };
    });
    broker.kill = async () => {
      isKilled = true;
      await shell(kill);
      await broker.stop();
    };
    return { url: () => url, version: version === 4 ? 4 : 5, parts: { broker }, topic: TOPIC, write: jsonOf };
  },
});
