import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.ts';
import { askRegistry } from '../../bootstrap/registry.ts';

/** A download fails when Maven prints nothing for this time, in ms. */
const SILENT_MS = 180_000;

export interface JarSet {
  pom: string;
  title: string;
  count: number;
  /** approximate, for the progress line */
  size: string;
}

export const CASSANDRA_JARS: JarSet = {
  pom: fileURLToPath(new URL('pom.xml', import.meta.url)),
  title: 'Cassandra',
  count: 100,
  size: '67 MB',
};

/**
 * May not exist yet. The name contains a digest of the pom, so a changed pom gets a new folder. An existing folder is always complete,
 * because one rename creates it.
 */
export async function jarsDir(engineDir: string, { pom }: JarSet) {
  const digest = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex');
  return join(engineDir, `lib-${digest.slice(0, 12)}`);
}

export async function hasJars(engineDir: string, set: JarSet): Promise<boolean> {
  return stat(await jarsDir(engineDir, set)).then(
    () => true,
    () => false,
  );
}

/** @returns the folder of the jars @throws `install_failed`, `disk_full` */
export async function ensureJars(options: {
  engineDir: string;
  set: JarSet;
  maven: string;
  javaHome: string;
  onStatus?: (text: string) => void;
  signal?: AbortSignal;
  /** an attempt fails when Maven prints nothing for this time */
  silentMs?: number;
  pausesMs?: number[];
}): Promise<string> {
  const { engineDir, set, maven, javaHome, onStatus = () => {}, signal } = options;
  const { silentMs = SILENT_MS, pausesMs } = options;
  const whole = await jarsDir(engineDir, set);
  if (await hasJars(engineDir, set)) return whole;
  const part = `${whole}.part-${process.pid}`;
  await mkdir(engineDir, { recursive: true });
  await removeLeftovers(engineDir);
  try {
    await askRegistry(
      'Maven Central',
      () => fetchInto(part, set, { maven, javaHome, onStatus, signal, silentMs }),
      {
        onStatus,
        signal,
        pausesMs,
        advice: `Maven could not fetch ${set.title}'s jars. Type the command again to try again.`,
      },
    );
    await rename(part, whole).catch(async (error) => {
      // The rename fails if a concurrent process was faster. Its folder has the same jars.
      if (!(await hasJars(engineDir, set))) throw error;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return whole;
}

/** Keeps the files of downloads in progress. */
async function removeLeftovers(engineDir: string) {
  for (const name of await readdir(engineDir)) {
    const pid = /\.part-(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(engineDir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** @throws `disk_full` @throws {Error} when Maven fails; the message has its last lines */
async function fetchInto(
  folder: string,
  { pom, title, count, size }: JarSet,
  options: {
    maven: string;
    javaHome: string;
    onStatus: (text: string) => void;
    signal?: AbortSignal;
    silentMs: number;
  },
) {
  const { maven, javaHome, onStatus, signal, silentMs } = options;
  const goal = 'dependency:copy-dependencies';
  // Maven reports its progress as one line per file. On old versions of Maven, -B alone would hide the lines of downloads.
  const args = ['-B', '-f', pom, goal, '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  onStatus(`${title}: about ${count} files, ${size} in all`);
  const child = spawn(maven, args, {
    cwd: dirname(pom),
    env: { ...process.env, JAVA_HOME: javaHome },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const last: string[] = [];
  let downloaded = 0;
  let copied = 0;
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    child.kill('SIGKILL');
  }, silentMs);
  const read = (line: string) => {
    silence.refresh();
    if (/Downloaded from .*\.jar/.test(line))
      onStatus(`${title}: ${++downloaded} of about ${count} files downloaded`);
    else if (/Copying .*\.jar/.test(line))
      onStatus(`${title}: ${++copied} of about ${count} files are in place`);
    last.push(line);
    if (last.length > 15) last.shift();
  };
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', read);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearTimeout(silence));
  if (code === 0) return;
  if (isSilent) throw new Error(`Maven printed nothing for ${silentMs / 1000} s.`);
  const errors = last.filter((line) => line.includes('ERROR'));
  const text = (errors.length > 0 ? errors : last).join('\n');
  if (/No space left/.test(text))
    throw new MillraceError('disk_full', `No room for ${title}'s jars in ${folder}.`);
  throw new Error(text);
}
