/**
 * Reads the settings of the application from the environment and `.env`, and checks them. The schema of each setting is
 * in schema.ts, the rules between settings are in rules.ts, and the form that other folders use is in config.ts.
 */
import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { decodeText } from '../encodings.ts';
import { codeOf, MillraceError } from '../errors.ts';
import { arrange, type Config } from './config.ts';
import { brokenRules } from './rules.ts';
import { SCHEMA, SETTINGS, type Values } from './schema.ts';
import { whyUnreadable } from './value-types.ts';

export { SCHEMA, SETTINGS };

export type Name = keyof Values;

/** For the help of commands that connect to the database. */
export const DATABASE_SETTINGS = Object.keys(SETTINGS).filter(
  (name) => SETTINGS[name]?.group === 'The database',
) as Name[];

/**
 * The error lists every problem with the name of its setting. An empty value counts as not set.
 * @param environment takes precedence over the file
 * @param options `envFile` may be missing (default: `.env` in the working directory)
 * @throws `bad_settings`
 */
export function readSettings(
  environment: NodeJS.ProcessEnv = process.env,
  { envFile = '.env' }: { envFile?: string } = {},
): Config {
  const given = { ...readEnvFile(envFile), ...environment };
  const wrong: Map<string, string> = new Map();
  const names = Object.keys(SCHEMA.shape) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, readValue(name, given, wrong)]));
  // Here an invalid value is undefined. A rule would report it as missing, so rules that name an invalid setting are left out.
  const config = arrange(values as Values);
  const broken = brokenRules(config).filter((rule) => !rule.split(/\W+/).some((word) => wrong.has(word)));
  const problems = [...wrong.values(), ...broken];
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  ${problem}`);
    throw new MillraceError('bad_settings', `Settings to correct:\n${lines.join('\n')}`);
  }
  return config;
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
  const value = readValue(name, { ...readEnvFile(envFile), ...environment }, wrong);
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
function readValue(name: Name, given: NodeJS.ProcessEnv, wrong: Map<string, string>): unknown {
  const fileName = `${name}_FILE`;
  const file = SETTINGS[name]?.secret ? given[fileName] : undefined;
  const { text, problem } =
    file && given[name]
      ? { problem: `is set together with ${name}; remove one of them` }
      : file
        ? readSecret(file)
        : { text: given[name] || undefined };
  const { data, error } = SCHEMA.shape[name].safeParse(text);
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
