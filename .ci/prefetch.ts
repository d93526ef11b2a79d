/**
 * Installs the packages that the checks take from registries, and describes the machine: `node .ci/prefetch.ts`. If a package is
 * unavailable, this command fails with the name of the registry, and no test fails because of it.
 */
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from '../common/command.ts';
import { claimDataDir } from '../common/data-dir.ts';
import { createStatusLine } from '../common/status-line.ts';
import { ensurePackages, ensureTools } from '../infra/bootstrap/index.ts';
import { SUITES } from '../test/suites.ts';

/** A failed mirror is often available again within a minute. */
const PAUSES_MS = [10_000, 60_000];

/** The tests start several databases, and each database writes files. */
const FREE_GIB = 6;

await runCommand(async () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  process.chdir(root);
  await claimDataDir('.data');
  const line = createStatusLine(process.stderr);
  const onStatus = line.update;
  await repeatedly(() => ensurePackages(root, { onStatus }));
  // These modules are imported here, because they need the packages that the lines above install.
  const { ensurePython } = await import('../infra/python/ensure.ts');
  const { installEngine } = await import('../infra/engine/index.ts');
  const { KAFKA_JARS } = await import('../infra/kafka/index.ts');
  const { GRAPH_JARS } = await import('../infra/graph/index.ts');
  const { ENGINE_DIR } = await import('../test/support/database/engine.ts');
  const tools = await ensureTools([...new Set(Object.values(SUITES).flatMap((suite) => suite.tools))], {
    onStatus,
  });
  // Two runs of Maven at once could break its cache.
  const installJars = async () => {
    await installEngine(ENGINE_DIR, { onStatus });
    await installEngine(ENGINE_DIR, { onStatus, set: KAFKA_JARS });
    await installEngine(ENGINE_DIR, { onStatus, set: GRAPH_JARS });
  };
  const dataDir = process.env['DATA_DIR'] ?? '.data';
  await Promise.all([ensurePython({ dataDir, onStatus }), installJars()]);
  line.clear();
  const { bavail, bsize } = await statfs('.');
  const freeGib = (bavail * bsize) / 2 ** 30;
  console.log(
    `Node.js ${process.version}, ${availableParallelism()} processors, ${(freemem() / 2 ** 30).toFixed(1)} GiB of memory free, ${freeGib.toFixed(1)} GiB of disk free`,
  );
  for (const [name, flag] of [
    ['java', '-version'],
    ['chromium', '--version'],
    ['mosquitto', '-h'],
  ] as const)
    console.log(`${name}: ${await firstLine(String(tools[name]?.path), flag)}`);
  if (freeGib < FREE_GIB)
    throw new Error(`The disk has ${freeGib.toFixed(1)} GiB free. The tests need ${FREE_GIB}.`);
});

/**
 * npm gives up after some seconds. Programs, jars and Python packages need no repetition here: the code that downloads them repeats its
 * requests.
 */
async function repeatedly(install: () => Promise<unknown>) {
  for (const pause of PAUSES_MS) {
    try {
      return await install();
    } catch (error) {
      console.error(`${(error as Error).message}\nNext try in ${pause / 1000} s.`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return install();
}

async function firstLine(program: string, flag: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, [flag]).catch((error) => error);
  return `${stdout}${stderr}`.trim().split('\n')[0] ?? '';
}
