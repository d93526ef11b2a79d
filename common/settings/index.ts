/**
 * Reads the settings of the application from the environment and `.env`, and checks them. The schema of each setting is
 * in schema.ts, the rules between settings are in rules.ts, and the form that other folders use is in config.ts. A feature defines
 * its own settings with group.ts.
 */
import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { decodeText } from '../encodings.ts';
import { codeOf, MillraceError } from '../errors.ts';
import { arrange, type Config, secretsOf } from './config.ts';
import type { SettingsGroup } from './group.ts';
import { brokenOf, brokenRules } from './rules.ts';
import { SCHEMA, SETTINGS, type Setting, type SettingType, type Values } from './schema.ts';
import { whyUnreadable } from './value-types.ts';

export { defineSettings, type NamedSetting, namedSettings, type SettingsGroup } from './group.ts';
export { SCHEMA, SETTINGS };

export type Name = keyof Values;

/** For the help of commands that connect to the database. */
export const DATABASE_SETTINGS = Object.keys(SETTINGS).filter(
  (name) => SETTINGS[name]?.group === 'The database',
) as Name[];

/** For the help of commands that call the API. */
export const API_SETTINGS: Name[] = ['API_URL', 'API_TOKEN', 'HTTP_PORT', 'HTTP_TLS_CERT'];

/**
 * The error lists every problem with the name of its setting. An empty value counts as not set.
 * @param environment takes precedence over the file
 * @param options `envFile` may be missing (default: `.env` in the working directory); `groups`: settings of features to check at
 * once (default: `of` checks a group when it is first read)
 * @throws `bad_settings`
 */
export function readSettings(
  environment: NodeJS.ProcessEnv = process.env,
  { envFile = '.env', groups = [] }: { envFile?: string; groups?: SettingsGroup[] } = {},
): Config {
  const given = { ...readEnvFile(envFile), ...environment };
  const found: Found = { wrong: new Map(), problems: [] };
  const core = check(
    given,
    found,
    { settings: SETTINGS, shape: SCHEMA.shape },
    (values) => arrange(values as Values),
    brokenRules,
  );
  const read: Map<SettingsGroup, unknown> = new Map();
  const config: Config = {
    ...core,
    of<T>(group: SettingsGroup<T>): T {
      const known = read.get(group as SettingsGroup);
      if (known !== undefined) return known as T;
      const later: Found = { wrong: new Map(), problems: [] };
      const own = readGroup(group, later);
      if (later.problems.length > 0) throw badSettings(later.problems);
      return own;
    },
  };
  function readGroup<T>(group: SettingsGroup<T>, to: Found): T {
    const before = to.problems.length;
    const own = check(
      given,
      to,
      group,
      (values) => {
        core.secrets.push(...secretsOf(group.settings, values));
        return group.arrange(values);
      },
      (own) => brokenOf(group.rules(own, config)),
    );
    if (to.problems.length === before) read.set(group as SettingsGroup, own);
    return own;
  }
  for (const group of groups) readGroup(group, found);
  if (found.problems.length > 0) throw badSettings(found.problems);
  return config;
}

const badSettings = (problems: string[]) =>
  new MillraceError(
    'bad_settings',
    `Settings to correct:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
  );

/** `wrong`: a sentence for each invalid value, by setting; `problems`: these sentences, and one for each broken rule */
type Found = { wrong: Map<string, string>; problems: string[] };

/** Reads and arranges the settings of a group. @param found gets what is wrong with them */
function check<T>(
  given: NodeJS.ProcessEnv,
  { wrong, problems }: Found,
  { settings, shape }: Pick<SettingsGroup, 'settings' | 'shape'>,
  arranged: (values: Record<string, unknown>) => T,
  broken: (own: T) => string[],
): T {
  const before = wrong.size;
  const values = Object.fromEntries(
    Object.entries(shape).map(([name, type]) => [name, readValue(name, type, settings[name], given, wrong)]),
  );
  const own = arranged(values);
  // Here an invalid value is undefined. A rule would report it as missing, so rules that name an invalid setting are left out. A rule of a
  // feature may name a setting of the core.
  const rules = broken(own).filter((rule) => !rule.split(/\W+/).some((word) => wrong.has(word)));
  problems.push(...[...wrong.values()].slice(before), ...rules);
  return own;
}

/**
 * Ignores all other settings, which may name files that do not exist yet.
 * @param environment takes precedence over the file
 * @param options `envFile` may be missing (default: `.env` in the working directory)
 * @throws `bad_settings`
 */
export function readSetting<N extends Name>(
  name: N,
  environment: NodeJS.ProcessEnv = process.env,
  { envFile = '.env' }: { envFile?: string } = {},
): Values[N] {
  const wrong = new Map();
  const given = { ...readEnvFile(envFile), ...environment };
  const value = readValue(name, SCHEMA.shape[name], SETTINGS[name], given, wrong);
  if (wrong.size > 0) throw new MillraceError('bad_settings', wrong.get(name));
  return value as Values[N];
}

/** Empty if the file does not exist. @throws `bad_settings` */
export function readEnvFile(path: string): Record<string, string> {
  try {
    return parseDotenv(decodeText(readFileSync(path)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
}

/** Undefined: unset, or invalid. @param wrong gets a sentence for an invalid value */
function readValue(
  name: string,
  type: SettingType,
  setting: Setting | undefined,
  given: NodeJS.ProcessEnv,
  wrong: Map<string, string>,
): unknown {
  const fileName = `${name}_FILE`;
  const file = setting?.secret ? given[fileName] : undefined;
  const { text, problem } =
    file && given[name]
      ? { problem: `is set together with ${name}; remove one of them` }
      : file
        ? readSecret(file)
        : { text: given[name] || undefined };
  const { data, error } = type.safeParse(text);
  const message = problem ?? error?.issues[0]?.message;
  if (message) wrong.set(name, `${file ? fileName : name} ${message}`);
  return data;
}

/** Editors leave a line break at the end of a file. */
function readSecret(path: string): { text?: string; problem?: string } {
  const problem = whyUnreadable(path);
  if (problem) return { problem };
  const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  return text === '' ? { problem: `names a file that holds nothing: ${path}` } : { text };
}
