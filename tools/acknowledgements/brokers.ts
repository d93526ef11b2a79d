import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ensureTools } from '../../infra/bootstrap/index.ts';
import { runShown } from '../../infra/bootstrap/run-shown.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { installOnce, installWithGo } from '../bench/peers/tools.ts';
import { startProgram } from '../bench/process/program.ts';
import { Component, jsonOf, type Prepare, type Setup, type Subject } from './subjects.ts';
import { createSubscriber } from './subscriber.ts';

const OUR_CONFIGURATION = new URL('../../infra/mosquitto/mosquitto.conf', import.meta.url);
const HIVEMQ = fileURLToPath(new URL('HiveMq.java', import.meta.url));
const VERSIONS = { hivemq: '2025.5', nats: '2.15.2' };

const POM = `<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<dependencies><dependency><groupId>com.hivemq</groupId><artifactId>hivemq-community-edition-embedded</artifactId>
<version>${VERSIONS.hivemq}</version></dependency></dependencies></project>`;

/** `ready` is in the log of a broker that accepts clients. */
type Command = { program: string; args: string[]; ready: string };

const program =
  (version: 4 | 5, configure: (port: number, setup: Setup) => Promise<Command>): Prepare =>
  async (setup) => {
    const port = await steadyPort();
    const { program: command, args, ready } = await configure(port, setup);
    const log = join(setup.logs, 'broker.log');
    const isReady = (text: string) => text.includes(ready);
    const broker = new Component(() => startProgram({ title: 'broker', command, args, log, isReady }));
    return brokerAt(`mqtt://127.0.0.1:${port}`, version, broker, setup);
  };

function brokerAt(address: string, version: 4 | 5, broker: Component, { trace }: Setup): Subject {
  const connection = { url: () => address, version };
  return { ...connection, broker, write: jsonOf, ...createSubscriber(connection, trace) };
}

/** @param lines of its configuration, besides listener and folder */
const mosquitto = (lines: () => Promise<string[]>): Prepare =>
  program(5, async (port, setup) => {
    const tools = await ensureTools(['mosquitto'], setup);
    const configuration = join(setup.logs, 'mosquitto.conf');
    // Mosquitto would change from root to a user that cannot write here.
    const own = process.getuid?.() === 0 ? ['user root'] : [];
    own.push(
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      `persistence_location ${setup.disk.path}/`,
    );
    await writeFile(configuration, [...own, ...(await lines()), ''].join('\n'));
    return { program: String(tools.mosquitto?.path), args: ['-c', configuration], ready: ' running' };
  });

/** Lines that belong to our container. */
const CONTAINER_LINES = /^(include_dir|password_file|acl_file|allow_anonymous|persistence_location|log_)/;

async function readOurConfiguration() {
  return (await readFile(OUR_CONFIGURATION, 'utf8'))
    .split('\n')
    .filter((line) => !CONTAINER_LINES.test(line));
}

async function rabbitmq(port: number, { disk, logs, ...setup }: Setup): Promise<Command> {
  await ensureTools(['rabbitmq'], setup);
  const [amqp, names] = [await steadyPort(), await steadyPort()];
  await writeFile(join(logs, 'plugins'), '[rabbitmq_mqtt].');
  await writeFile(
    join(logs, 'rabbitmq.conf'),
    `listeners.tcp.1 = 127.0.0.1:${amqp}\nmqtt.listeners.tcp.1 = 127.0.0.1:${port}\n`,
  );
  const environment = [
    `HOME=${logs}`,
    `ERL_EPMD_PORT=${names}`,
    'RABBITMQ_NODENAME=acks@localhost',
    `RABBITMQ_DIST_PORT=${await steadyPort()}`,
    `RABBITMQ_MNESIA_BASE=${disk.path}`,
    'RABBITMQ_LOGS=-',
    `RABBITMQ_CONFIG_FILE=${join(logs, 'rabbitmq.conf')}`,
    `RABBITMQ_ENABLED_PLUGINS_FILE=${join(logs, 'plugins')}`,
  ];
  // The server would leave its name server behind.
  const script = `epmd & names=$!; /usr/lib/rabbitmq/bin/rabbitmq-server & server=$!
    trap 'kill $server' TERM; wait $server; wait $server; kill $names`;
  return { program: 'env', args: [...environment, 'sh', '-c', script], ready: 'Server startup complete' };
}

async function nats(port: number, setup: Setup): Promise<Command> {
  const { go } = await ensureTools(['go'], setup);
  const args = [`github.com/nats-io/nats-server/v2@v${VERSIONS.nats}`];
  const options = { go: String(go?.path), args, onStatus: setup.onStatus };
  const folder = await installWithGo(setup.tools, `nats-server-${VERSIONS.nats}`, options);
  const configuration = join(setup.logs, 'nats.conf');
  await writeFile(
    configuration,
    `server_name: acks, listen: "127.0.0.1:-1", jetstream { store_dir: "${setup.disk.path}" }, mqtt { listen: "127.0.0.1:${port}" }`,
  );
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
  const args = ['-cp', join(jars, '*'), HIVEMQ, setup.logs, setup.disk.path];
  return { program: String(java?.path), args, ready: 'HiveMQ accepts clients' };
}

export const OUR_MOSQUITTO: Prepare = mosquitto(readOurConfiguration);

export const BROKERS = {
  /** The configuration of Debian's package turns persistence on. */
  mosquitto: mosquitto(async () => ['persistence true']),
  'mosquitto-configured': OUR_MOSQUITTO,
  rabbitmq: program(4, rabbitmq),
  nats: program(4, nats),
  hivemq: program(5, hivemq),
} satisfies Record<string, Prepare>;

/** A broker that runs already. @param options `start`, `kill`: shell commands */
export const ownBroker =
  (options: { url: string; mqtt: number; start?: string; kill?: string }): Prepare =>
  async (setup) => {
    await setup.disk.remove(); // The broker has its own.
    const shell = (command = '') => promisify(execFile)('sh', ['-c', command]);
    let isKilled = false;
    const broker = new Component(async () => {
      if (isKilled) await shell(options.start);
      return { stop: async () => {} };
    });
    broker.kill = async () => {
      isKilled = true;
      await shell(options.kill);
      await broker.stop();
    };
    return brokerAt(options.url, options.mqtt === 4 ? 4 : 5, broker, setup);
  };
