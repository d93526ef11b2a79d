import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../../../common/errors.ts';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { runShown } from '../../../infra/bootstrap/run-shown.ts';

/** A figure is valid only for one version. */
const VERSIONS = { telegraf: '1.37.2', questdb: '9.3.4' };

/** A build with all plugins would take minutes and 300 MB. */
const PLUGINS = 'custom,inputs.mqtt_consumer,outputs.influxdb_v2,parsers.influx';

export type Programs = { telegraf: string; questdb: string; java: string };

/**
 * Each program appears by one rename, so an existing program is complete.
 * @param dir is kept between runs
 * @throws {MillraceError} `tool_missing`, `java_missing`, `install_failed`
 */
export async function ensurePrograms(dir: string, onStatus: (text: string) => void): Promise<Programs> {
  const { java, maven, go } = await findTools(['java', 'maven', 'go']);
  const build = { go: String(go?.path), name: 'telegraf', plugins: PLUGINS, onStatus };
  const telegraf = await installTelegraf(dir, build);
  const artifact = `-Dartifact=org.questdb:questdb:${VERSIONS.questdb}`;
  const questdb = await installOnce(dir, `questdb-${VERSIONS.questdb}`, (part) =>
    runShown(String(maven?.path), ['-B', 'dependency:copy', artifact, `-DoutputDirectory=${part}`], {
      title: `QuestDB ${VERSIONS.questdb}`,
      cwd: part,
      env: { ...process.env, JAVA_HOME: String(java?.home) },
      onStatus,
    }),
  );
  return {
    telegraf,
    questdb: join(questdb, `questdb-${VERSIONS.questdb}.jar`),
    java: String(java?.path),
  };
}

/**
 * @param dir is kept between runs
 * @param options `go`: path of the compiler; `name`: of the build, because builds differ in their plugins; `plugins`: build tags
 * @returns path of the program
 * @throws {MillraceError} `install_failed`
 */
export async function installTelegraf(
  dir: string,
  {
    go,
    name,
    plugins,
    onStatus,
  }: { go: string; name: string; plugins: string; onStatus: (text: string) => void },
): Promise<string> {
  const args = ['-tags', plugins, `github.com/influxdata/telegraf/cmd/telegraf@v${VERSIONS.telegraf}`];
  const folder = await installWithGo(dir, `${name}-${VERSIONS.telegraf}`, { go, args, onStatus });
  return join(folder, 'telegraf');
}

/** @returns folder of the program, in which it has the last name of its module */
export const installWithGo = (
  dir: string,
  name: string,
  { go, args, onStatus }: { go: string; args: string[]; onStatus: (text: string) => void },
): Promise<string> =>
  installOnce(dir, name, (part) =>
    runShown(go, ['install', ...args], { title: name, env: { ...process.env, GOBIN: part }, onStatus }),
  );

/** @param make fills a folder @returns path of the complete folder, which appears by one rename */
export async function installOnce(
  dir: string,
  name: string,
  make: (part: string) => Promise<void>,
): Promise<string> {
  const whole = join(dir, name);
  if (existsSync(whole)) return whole;
  const part = `${whole}.part-${process.pid}`;
  await mkdir(part, { recursive: true });
  try {
    await make(part);
    await rename(part, whole);
  } catch (error) {
    const reason = (error as Error).message;
    throw new MillraceError('install_failed', `${name} could not be installed.\n${reason}`, { cause: error });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return whole;
}
