/**
 * `npm run chaos`: kills, pauses and cuts off processes, database nodes and brokers under load, and compares what the API, the database and
 * Kafka have with ledgers. It runs for hours: 1,000 kills take about two. `npm run test:cluster` has a short run.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import { claimDataDir } from '../../common/data-dir.ts';
import { MillraceError } from '../../common/errors.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { abortOnStop } from '../../common/stop-signal.ts';
import { ensurePackages, ensureTools } from '../../infra/bootstrap/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  const signal = abortOnStop();
  await ensurePackages(root, { onStatus: line.update, signal });
  const flags = await readFlags(process.argv.slice(2));
  await claimDataDir('.data');
  await ensureTools(['java', 'maven', 'mosquitto', 'mosquittoClients'], { onStatus: line.update, signal });
  // Imported here, because they need the packages.
  const { startCluster } = await import('../../infra/engine/index.ts');
  const { ENGINE_DIR } = await import('../support/database/engine.ts');
  const { runCleanUps } = await import('../support/run-clean-ups.ts');
  const { runChaos } = await import('./run.ts');
  const directory = await mkdtemp(join(tmpdir(), 'millrace-chaos-'));
  const cleanUps: Array<() => unknown> = [
    () => rm(directory, { recursive: true, force: true, maxRetries: 3 }),
  ];
  const afterwards = (cleanUp: () => unknown) => void cleanUps.push(cleanUp);
  let isGood = false;
  try {
    const dataDir = join(directory, 'cluster');
    const cluster = await startCluster({ dataDir, engineDir: ENGINE_DIR, onStatus: line.update, signal });
    afterwards(cluster.close);
    const run = runChaos({
      ...flags,
      cluster,
      directory,
      timelines: join('.data', 'chaos'),
      afterwards,
      showStatus: line.update,
      print: (text) => line.print(text),
    });
    // Ctrl-C also reaches processes that the run needs, so it cannot end in order.
    const stopped = once(signal, 'abort').then(() => Promise.reject(signal.reason));
    ({ isGood } = await Promise.race([run, stopped]));
  } finally {
    line.clear();
    await runCleanUps(cleanUps);
  }
  if (!isGood) throw new MillraceError('failed', 'Samples are lost, doubled or wrong, or a part failed.');
  // The driver (4.10) leaks timers of nodes that reconnected, and they would keep the process alive.
  process.exit();
});

async function readFlags(argv: string[]): Promise<{ kills: number; seed: number; minutes?: number }> {
  const { parseFlags } = await import('../../common/flags.ts');
  return parseFlags(
    {
      command: 'npm run chaos --',
      help: 'Kills, pauses and cuts off the parts of an installation under load, and looks for lost and wrong samples.',
      examples: ['npm run chaos -- --kills 50 --seed 1', 'npm run chaos -- --kills 1000 --minutes 120'],
      flags: {
        kills: {
          type: 'integer',
          help: 'kill -9 of a process, a node, Mosquitto or Kafka',
          fallback: 1000,
          min: 1,
        },
        seed: {
          type: 'integer',
          help: 'of the first drill; a drill has up to 50 kills',
          fallback: 1,
          min: 0,
        },
        minutes: { type: 'number', help: 'after which no further fault begins; default no limit' },
      },
    },
    argv,
  );
}
