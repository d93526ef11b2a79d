import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { ensurePython } from '../../../infra/python/ensure.ts';
import { installTelegraf } from '../../../tools/bench/peers/tools.ts';
import { until } from '../until.ts';

const inRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The configuration of the compose profile. */
const CONFIG = inRoot('infra/compose/telegraf/telegraf.conf');
const PLUGINS = 'custom,inputs.modbus,inputs.opcua,outputs.influxdb_v2';
const onStatus = () => {};

/** A third-party program that a test starts, kills and starts again. */
export class Program {
  #command;
  #args;
  #env;
  #child: ChildProcess | null = null;
  output = '';

  constructor(command: string, args: string[], env: Record<string, string> = {}) {
    this.#command = command;
    this.#args = args;
    this.#env = env;
  }

  start() {
    // Standard input ends with the test process. Then the simulators end too.
    const child = spawn(this.#command, this.#args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...this.#env },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.output += chunk));
    this.#child = child;
  }

  /** kill -9. Settles when it is gone. */
  async kill() {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}

/**
 * Builds Telegraf and starts the simulated machines.
 * @param millraceUrl that Telegraf writes to
 * @returns `telegraf` is not started yet
 */
export async function prepareTelegraf(
  millraceUrl: string,
): Promise<{ telegraf: Program; machines: Program }> {
  const { go } = await findTools(['go']);
  const dataDir = inRoot('.data');
  const command = await installTelegraf(inRoot('.data/telegraf'), {
    go: String(go?.path),
    name: 'machines',
    plugins: PLUGINS,
    onStatus,
  });
  const requirements = inRoot('test/support/telegraf/requirements.txt');
  const python = await ensurePython({ dataDir, name: 'python-machines', requirements, onStatus });
  const [modbus, opcua] = [await steadyPort(), await steadyPort()];
  const machines = new Program(python.program('python'), [
    inRoot('test/support/telegraf/machines.py'),
    String(modbus),
    String(opcua),
  ]);
  machines.start();
  await until(() => machines.output.includes('ready'), { withinMs: 120_000, what: 'the simulated machines' });
  const telegraf = new Program(command, ['--config', CONFIG], {
    MILLRACE_URL: millraceUrl,
    MILLRACE_TOKEN: 'none',
    MODBUS_URL: `tcp://127.0.0.1:${modbus}`,
    OPCUA_URL: `opc.tcp://127.0.0.1:${opcua}`,
    TELEGRAF_INTERVAL: '100ms',
    TELEGRAF_FLUSH_INTERVAL: '200ms',
  });
  return { telegraf, machines };
}
