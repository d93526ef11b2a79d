import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MillraceError } from '../../../common/errors.js';
import { findTools } from '../../../infra/bootstrap/index.js';
import { runShown } from '../../../infra/bootstrap/run-shown.js';

const run = promisify(execFile);

/** Pinned: a figure belongs to a version. */
export const VERSIONS = { telegraf: '1.37.2', questdb: '9.3.4', influxdb: '1.6.7' };

/** Telegraf's plugins that are used; all of them would make 300 MB and build for minutes. */
const PLUGINS = [
  'custom',
  'inputs.mqtt_consumer',
  'outputs.influxdb',
  'outputs.influxdb_v2',
  'parsers.influx',
].join(',');

/** The paths of what the comparison runs. @typedef {{ telegraf: string, questdb: string, influxdb: string, java: string }} Programs */

/**
 * Builds or fetches what is not there yet. Each appears by one rename, so what is there is whole.
 *
 * @param {string} dir where they are kept, over all runs
 * @param {(text: string) => void} onStatus
 * @returns {Promise<Programs>}
 * @throws {MillraceError} `tool_missing`, `java_missing`, `install_failed`
 */
export async function ensurePrograms(dir, onStatus) {
  const { java, maven, go } = await findTools(['java', 'maven', 'go']);
  await mkdir(dir, { recursive: true });
  /** @param {string} name @param {(part: string) => Promise<void>} make */
  const once = async (name, make) => {
    const whole = join(dir, name);
    if (await exists(whole)) return whole;
    const part = `${whole}.part-${process.pid}`;
    await mkdir(part, { recursive: true });
    try {
      await make(part);
      await rename(part, whole);
    } catch (error) {
      const reason = /** @type {Error} */ (error).message;
      throw new MillraceError('install_failed', `${name} could not be had for the comparison.\n${reason}`, {
        cause: error,
      });
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    return whole;
  };

  const telegraf = await once(`telegraf-${VERSIONS.telegraf}`, (part) =>
    runShown(
      String(go?.path),
      ['install', '-tags', PLUGINS, `github.com/influxdata/telegraf/cmd/telegraf@v${VERSIONS.telegraf}`],
      { title: `Telegraf ${VERSIONS.telegraf}`, env: { ...process.env, GOBIN: part }, onStatus },
    ),
  );
  const questdb = await once(`questdb-${VERSIONS.questdb}`, (part) =>
    runShown(
      String(maven?.path),
      [
        '-B',
        'dependency:copy',
        `-Dartifact=org.questdb:questdb:${VERSIONS.questdb}`,
        `-DoutputDirectory=${part}`,
      ],
      {
        title: `QuestDB ${VERSIONS.questdb}`,
        cwd: part,
        env: { ...process.env, JAVA_HOME: String(java?.home) },
        onStatus,
      },
    ),
  );
  const influxdb = await once(`influxdb-${VERSIONS.influxdb}`, (part) => unpackInfluxdb(part, onStatus));
  return {
    telegraf: join(telegraf, 'telegraf'),
    questdb: join(questdb, `questdb-${VERSIONS.questdb}.jar`),
    influxdb: join(influxdb, 'usr', 'bin', 'influxd'),
    java: String(java?.path),
  };
}

/**
 * Debian's package, unpacked and not installed: no service is started, nothing outside of the folder changes.
 *
 * @param {string} part
 * @param {(text: string) => void} onStatus
 */
async function unpackInfluxdb(part, onStatus) {
  if (!(await exists('/usr/bin/apt-get')))
    throw new Error(`InfluxDB ${VERSIONS.influxdb} is a package of Debian 12: run this on Debian 12.`);
  const shown = { title: `InfluxDB ${VERSIONS.influxdb}`, cwd: part, onStatus };
  await runShown('apt-get', ['-q', 'download', 'influxdb'], shown).catch(async () => {
    await runShown('apt-get', ['-q', 'update'], { ...shown, title: 'apt: package lists' });
    await runShown('apt-get', ['-q', 'download', 'influxdb'], shown);
  });
  const file = (await readdir(part)).find((name) => name.endsWith('.deb'));
  if (!file?.startsWith(`influxdb_${VERSIONS.influxdb}`))
    throw new Error(`The package is ${file}; the comparison is with ${VERSIONS.influxdb}, as in Debian 12.`);
  await run('dpkg', ['-x', join(part, file), part]);
  await rm(join(part, file));
}

/** @param {string} path */
const exists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );
