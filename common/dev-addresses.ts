import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addresses } from './addresses.ts';
import type { Config } from './settings/config.ts';
import { readEnvFile, readSetting, readSettings, SCHEMA } from './settings/index.ts';

/**
 * `npm run dev` writes its ports to this file in `DATA_DIR`. Other commands on this machine read it, so they find an
 * installation that does not use the default ports. The file holds no secret.
 */
const FILE = 'millrace-dev.json';

/** The system reuses a pid, so the start time is part of the identity. */
type ProcessIdentity = { pid: number; start: string };
type DevAddresses = ProcessIdentity & { settings: Record<string, string> };

/** A command takes these settings from the file, by what it connects to. */
const SETTINGS_OF_FILE = {
  database: ['CQL_LOCAL_PORT', 'CQL_KEYSPACE'],
  broker: ['MQTT_PORT'],
  api: ['HTTP_PORT'],
};
/** If one of these settings is given, the command works on another installation and ignores the file. */
const SETTINGS_OF_OTHER_INSTALLATION = {
  database: ['CQL_CONTACT_POINTS', 'CQL_LOCAL_PORT'],
  broker: ['MQTT_URL'],
  api: ['API_URL'],
};

/**
 * Names only servers that `npm run dev` has started itself: no cluster, and no external broker.
 * @param config has the ports that are in use
 * @param further settings with the addresses of further servers, which features use
 */
export function writeDevAddresses(
  { dataDir, cql, mqtt, http }: Config,
  further: Record<string, string> = {},
) {
  const settings = {
    HTTP_PORT: String(http.port),
    ...(mqtt.url ? {} : { MQTT_PORT: String(mqtt.port) }),
    ...(cql.contactPoints ? {} : { CQL_LOCAL_PORT: String(cql.localPort), CQL_KEYSPACE: cql.keyspace }),
    ...further,
  };
  const text = JSON.stringify({ pid: process.pid, start: startOf(process.pid), settings });
  const path = join(dataDir, FILE);
  // The rename is atomic, so a reader never gets a part of the file.
  writeFileSync(`${path}.new`, `${text}\n`);
  renameSync(`${path}.new`, path);
}

/** Another process may have written the file since. */
export function removeDevAddresses(dataDir: string) {
  if (readFile(dataDir)?.pid === process.pid) rmSync(join(dataDir, FILE), { force: true });
}

/** Null also if the file is damaged, or the process that wrote it has ended. */
export function findDevAddresses(dataDir: string): DevAddresses | null {
  const found = readFile(dataDir);
  return found && startOf(found.pid) === found.start ? found : null;
}

/**
 * A setting that is neither in the environment nor in `.env` comes from a `npm run dev` that runs on this machine with the same `DATA_DIR`.
 * @param target what the command connects to
 * @param options `further`: names of further settings that the command takes from the file
 * @throws `bad_settings`
 */
export function readCommandSettings(
  target: keyof typeof SETTINGS_OF_FILE,
  {
    environment = process.env,
    envFile = '.env',
    print = console.error,
    further = [],
  }: {
    environment?: NodeJS.ProcessEnv;
    envFile?: string;
    /** prints a line when the command uses the installation of `npm run dev` */
    print?: (text: string) => void;
    further?: string[];
  } = {},
): Config {
  const given = { ...readEnvFile(envFile), ...environment };
  const isElsewhere = SETTINGS_OF_OTHER_INSTALLATION[target].some((name) => given[name]);
  const found = isElsewhere ? null : findDevAddresses(readSetting('DATA_DIR', environment, { envFile }));
  const taken = Object.entries(found?.settings ?? {}).filter(
    ([name]) => [...SETTINGS_OF_FILE[target], ...further].includes(name) && !given[name],
  );
  const config = readSettings({ ...environment, ...Object.fromEntries(taken) }, { envFile });
  if (found && taken.length > 0) {
    const { cql } = config;
    const { broker, dashboard: api } = addresses(config);
    const database = `CQL 127.0.0.1:${cql.localPort}, keyspace ${cql.keyspace}`;
    print(
      `Using the installation of npm run dev (process ${found.pid}): ${{ database, broker, api }[target]}`,
    );
  }
  return config;
}

function readFile(dataDir: string): DevAddresses | null {
  try {
    const { pid, start, settings } = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8'));
    if (!Number.isInteger(pid) || pid < 1 || typeof start !== 'string' || start === '') return null;
    const found = Object.entries(settings);
    // The schema throws when a value is not valid. Then the file counts as damaged. A feature checks its own settings.
    for (const [name, value] of found)
      if (Object.hasOwn(SCHEMA.shape, name))
        SCHEMA.shape[name as keyof typeof SCHEMA.shape].parse(String(value));
    return { pid, start, settings: Object.fromEntries(found.map(([name, value]) => [name, String(value)])) };
  } catch {
    return null; // There is no file, or it is damaged. The command uses the defaults.
  }
}

/** In the format of the operating system; empty: the process does not run. */
function startOf(pid: number): string {
  try {
    if (!existsSync('/proc/self/stat')) {
      // No /proc, as on macOS.
      return String(execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { stdio: 'pipe' })).trim();
    }
    // The name of the program is in parentheses and may hold spaces. The fields after it are counted from 3 (proc(5)).
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const [state = 'Z', start = ''] = [fields[0], fields[22 - 3]];
    return state === 'Z' || state === 'X' ? '' : start;
  } catch {
    return '';
  }
}
