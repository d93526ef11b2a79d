/**
 * `npm run test:unplug [FEATURE...]`: takes each feature out of a copy of the project, with its folders, its tests and its lines in
 * `api/features/index.ts` and `web/features/index.ts`. The copy must pass the types, the import rules, the unit tests, and the path of a
 * message from its receipt to the readers. Exit code 1 when a copy fails.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { parseLine, usageError } from '../../common/flags.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const FLAGS = {
  together: { type: 'switch', help: 'takes the named features, by default all, out of one copy' },
  brief: { type: 'switch', help: 'leaves out the unit tests, which take minutes' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:unplug --',
  help: 'Takes features out of a copy of the project, one after the other, and checks the rest.',
  examples: ['npm run test:unplug', 'npm run test:unplug -- kafka', 'npm run test:unplug -- --together'],
  words: { usage: '[FEATURE...]', rule: 'folders of api/features and web/features', least: 0, most: 50 },
  flags: FLAGS,
};

/** The sides of a feature. Each has a folder of features, with a list. A feature has one side, or both. */
const SIDES = ['api/features', 'web/features'];

/** The folder of rooms that several features use. It goes with the last of them. */
const SHARED = 'shared';

/** A command that runs in the copy, with its arguments. */
type Check = [name: string, ...command: string[]];

const UNIT_TESTS: Check = ['unit tests', 'npm', 'run', '--silent', 'test:unit'];

const CHECKS: Check[] = [
  ['types', 'node_modules/.bin/tsc'],
  ['import rules', 'npm', 'run', '--silent', 'lint:imports'],
  UNIT_TESTS,
  ['path of a message', 'npm', 'test', '--silent', '--', '--ci', 'test/integration/path.test.ts'],
];

await runCommand(async () => {
  const { words, flags } = parseLine(LINE, process.argv.slice(2));
  const features = [...new Set((await Promise.all(SIDES.map(featuresIn))).flat())].sort();
  const unknown = words.filter((word) => !features.includes(word));
  if (unknown.length > 0)
    throw usageError(LINE.command, [
      `there is no feature ${unknown.join(', ')}; there are ${features.join(', ')}`,
    ]);
  const chosen = words.length > 0 ? words : features;
  // The copies link to these packages. An installation in a copy would empty the folder.
  await ensurePackages(root, { onStatus: (text) => console.error(text) });
  const failed: string[] = [];
  for (const removed of flags.together ? [chosen] : chosen.map((name) => [name])) {
    console.error(`without ${removed.join(', ')}`);
    const checks = CHECKS.filter((check) => !(flags.brief && check === UNIT_TESTS));
    const failure = await checkWithout(removed, checks);
    console.error(failure === null ? '  passed' : `  FAILED: ${failure}`);
    if (failure !== null) failed.push(removed.join(', '));
  }
  process.exitCode = failed.length > 0 ? 1 : 0;
});

async function featuresIn(side: string): Promise<string[]> {
  const entries = await readdir(join(root, side), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && entry.name !== SHARED).map(({ name }) => name);
}

async function checkWithout(features: string[], checks: Check[]): Promise<string | null> {
  const copy = await mkdtemp(join(tmpdir(), 'millrace-unplug-'));
  try {
    await copyProject(copy);
    await unplug(copy, features);
    if ((await run(copy, 'npm', ['run', '--silent', 'docs:reference'])) !== 0) return 'docs:reference';
    await commit(copy);
    for (const [name, command, ...args] of checks) {
      if ((await run(copy, String(command), args)) !== 0) return name;
    }
    return null;
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function copyProject(copy: string) {
  const files = (await output('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])).split(
    '\0',
  );
  for (const file of files.filter(Boolean)) {
    await mkdir(join(copy, dirname(file)), { recursive: true });
    await cp(join(root, file), join(copy, file)).catch((error) => {
      // A deleted file stays in the index until the next commit.
      if (error.code !== 'ENOENT') throw error;
    });
  }
  for (const shared of ['node_modules', '.node'])
    await symlink(join(root, shared), join(copy, shared)).catch(() => {});
}

async function unplug(copy: string, features: string[]) {
  const removed = [...features];
  for (const side of SIDES) {
    const present = await featuresIn(side);
    await unplugSide(
      copy,
      side,
      features.filter((feature) => present.includes(feature)),
    );
    if (present.some((feature) => !features.includes(feature))) continue;
    await rm(join(copy, side, SHARED), { recursive: true, force: true });
    removed.push(SHARED);
  }
  for (const path of await readdir(join(copy, 'test'), { recursive: true })) {
    if (removed.some((name) => isTestOf(path, name)))
      await rm(join(copy, 'test', path), { recursive: true, force: true });
  }
  await removeOrphans(copy);
  const order = join(copy, 'test/support/sequencer.ts');
  const lines = (await readFile(order, 'utf8')).split('\n');
  const rest = lines.filter(
    (line) => !features.some((name) => isTestOf(/'(.+)'/.exec(line)?.[1] ?? '', name)),
  );
  await writeFile(order, rest.join('\n'));
}

/** Removes tests of features that import a removed file: they test two features together. */
async function removeOrphans(copy: string) {
  for (;;) {
    const orphans: string[] = [];
    for (const path of await readdir(join(copy, 'test'), { recursive: true })) {
      if (!/(?:^|\/)features\/.*\.ts$/.test(path)) continue;
      const file = join(copy, 'test', path);
      const imports = [...(await readFile(file, 'utf8')).matchAll(/ from '(\.[^']+)'/g)];
      if (imports.some(([, imported]) => !existsSync(join(dirname(file), String(imported)))))
        orphans.push(file);
    }
    if (orphans.length === 0) return;
    for (const orphan of orphans) await rm(orphan);
  }
}

/** Tests ask Git for the files and for the commit of the project. */
async function commit(copy: string) {
  const author = ['-c', 'user.name=unplug', '-c', 'user.email=unplug@example.org'];
  await run(copy, 'git', ['init', '--quiet']);
  await run(copy, 'git', ['add', '--all']);
  await run(copy, 'git', [...author, 'commit', '--quiet', '--no-verify', '--message', 'unplug']);
}

async function unplugSide(copy: string, side: string, features: string[]) {
  const list = join(copy, side, 'index.ts');
  let text = await readFile(list, 'utf8');
  for (const feature of features) {
    const line = new RegExp(`^import \\{ (\\w+) \\} from './${feature}/index\\.ts';\\n`, 'm');
    const [, name] = line.exec(text) ?? [];
    if (!name) throw new Error(`${side}/index.ts does not import ${feature}`);
    text = text.replace(line, '').replace(new RegExp(`\\b${name},\\s*`), '');
    await rm(join(copy, side, feature), { recursive: true });
  }
  await writeFile(list, text);
}

/**
 * Such as `unit/features/kafka`, `unit/web/features/import`, `integration/features/query.test.ts` and
 * `integration/long/features/kafka-registry.test.ts`.
 */
function isTestOf(path: string, feature: string): boolean {
  return new RegExp(`(?:^|/)features/${feature}(?:$|/|[-.][a-z0-9.-]*$)`).test(path);
}

function run(cwd: string, command: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 2, 2], env: { ...process.env, CI: '1' } });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

async function output(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks = await child.stdout.toArray();
  return Buffer.concat(chunks).toString();
}
