import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { claimDataDir } from '../../common/data-dir.ts';
import { readSettings } from '../../common/settings/index.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { abortOnStop } from '../../common/stop-signal.ts';
import { ensureTools } from '../../infra/bootstrap/index.ts';
import { buildDashboard } from '../../infra/dev/build.ts';
import { startDatabase } from './environment/database.ts';
import { type Environment, openEnvironment } from './environment/index.ts';
import { describeMachine } from './measure/machine.ts';

interface Session {
  environment: Environment;
  results: Record<string, unknown>;
  /** throws after the operator has stopped the run */
  status: (text: string) => void;
  /** the status line does not overwrite it */
  print: (text: string) => void;
}

/**
 * Always stops the environment, and writes the results so far to a file.
 * @param options `needsDashboard`: also Chromium and a new build, since API processes serve `dist/web` as it is when they start
 */
export async function runSession(
  { flags, needsDashboard }: { flags: object; needsDashboard: boolean },
  work: (session: Session) => Promise<void>,
) {
  const { dataDir } = readSettings();
  const home = join(dataDir, 'bench');
  await claimDataDir(dataDir);
  const line = createStatusLine(process.stderr);
  const signal = abortOnStop();
  const began = new Date();
  // The commit is read now, because another commit may be checked out while the bench runs.
  const commit = await currentCommit();
  const results: Record<string, unknown> = {};
  const shown = { onStatus: line.update, signal };

  await ensureTools(
    ['java', 'maven', 'mosquitto', ...(needsDashboard ? (['chromium'] as const) : [])],
    shown,
  );
  if (needsDashboard) await buildDashboard({ root: fileURLToPath(ROOT), signal });
  const dir = join(home, 'environment');
  const database = await startDatabase({ dir, engineDir: join(dataDir, 'engine'), ...shown });
  let environment: Environment | null = null;
  try {
    environment = await openEnvironment({ dir, database, onStatus: line.update });
    await work({
      environment,
      results,
      status(text) {
        signal.throwIfAborted();
        line.update(text);
      },
      print(text) {
        line.clear();
        console.log(text);
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    line.print(`${signal.reason.message} What was measured until now is kept.`);
  } finally {
    line.update('stopping');
    await environment?.stop();
    await database.stop();
    line.clear();
    if (Object.keys(results).length > 0) {
      const file = join(home, `bench-${began.toISOString().replaceAll(/[:.]/g, '-')}.json`);
      await mkdir(home, { recursive: true });
      const raw = { began, commit, machine: describeMachine(), flags, results };
      await writeFile(file, `${JSON.stringify(raw, null, 1)}\n`);
      console.log(`Raw figures: ${file}`);
    }
  }
}

const ROOT = new URL('../..', import.meta.url);

/** The suffix is `-dirty` if tracked files have changed since the commit. @returns null: Git is missing, or this is not a clone */
export async function currentCommit(directory: URL | string = ROOT): Promise<string | null> {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { cwd: directory });
    return stdout.trim();
  } catch {
    return null;
  }
}
