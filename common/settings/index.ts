/**
 * Reads the settings of the application from the environment and `.env`, and checks them. The schema of each setting is in schema.js, the
 * rules between settings are in rules.js, and the form that other folders use is in config.js.
 */
import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { decodeText } from '../encodings.js';
import { MillraceError } from '../errors.js';
import { arrange } from './config.js';
import { brokenRules } from './rules.js';
import { SCHEMA, SETTINGS } from './schema.js';
import { whyUnreadable } from './value-types.js';

/** @import { Config, TlsFiles } from './config.js' */
/** @import { Values } from './schema.js' */

export { SCHEMA, SETTINGS };

/** @typedef {keyof Values} Name */

/** The settings that a command reads to connect to the database, as `settings` of its help. */
export const DATABASE_SETTINGS = /** @type {Name[]} */ (
  Object.keys(SETTINGS).filter((name) => SETTINGS[name]?.group === 'The database')
);

/**
 * Reads all settings. The error lists every problem with the name of its setting. An empty value counts as not set.
 *
 * @param {NodeJS.ProcessEnv} [environment] takes precedence over the file
 * @param {{ envFile?: string }} [options] `envFile`: path of the file, which may be missing (default: `.env` in the working directory)
 * @returns {Config}
 * @throws {MillraceError} `bad_settings`
 */
export function readSettings(environment = process.env, { envFile = '.env' } = {}) {
  const given = { ...readEnvFile(envFile), ...environment };
  /** @type {Map<string, string>} problems by the setting's name */
  const wrong = new Map();
  const names = /** @type {Name[]} */ (Object.keys(SCHEMA.shape));
  const values = Object.fromEntries(names.map((name) => [name, readValue(name, given, wrong)]));
  // Here an invalid value is undefined. A rule would report it as missing, so rules that name an invalid setting are left out.
  const config = arrange(/** @type {Values} */ (values));
  const broken = brokenRules(config).filter((rule) => !rule.split(/\W+/).some((word) => wrong.has(word)));
  const problems = [...wrong.values(), ...broken];
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  ${problem}`);
    throw new MillraceError('bad_settings', `Settings to correct:\n${lines.join('\n')}`);
  }
  return config;
}

/**
 * Reads one setting, and ignores all other settings, which may name files that do not exist yet.
 *
 * @template {Name} N
 * @param {N} name
 * @param {NodeJS.ProcessEnv} [environment] takes precedence over the file
 * @param {{ envFile?: string }} [options] `envFile`: path of the file, which may be missing (default: `.env` in the working directory)
 * @returns {Values[N]}
 * @throws {MillraceError} `bad_settings`
 */
export function readSetting(name, environment = process.env, { envFile = '.env' } = {}) {
  const wrong = new Map();
  const value = readValue(name, { ...readEnvFile(envFile), ...environment }, wrong);
  if (wrong.size > 0) throw new MillraceError('bad_settings', wrong.get(name));
  return /** @type {Values[N]} */ (value);
}

/**
 * @param {string} path
 * @returns {Record<string, string>} values by name; empty if the file does not exist
 * @throws {MillraceError} `bad_settings`
 */
export function readEnvFile(path) {
  try {
    return parseDotenv(decodeText(readFileSync(path)));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return {};
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
}

/**
 * @param {Name} name
 * @param {NodeJS.ProcessEnv} given
 * @param {Map<string, string>} wrong problems by name; this function adds a sentence if the value is invalid
 * @returns {unknown} undefined: unset or invalid
 */
function readValue(name, given, wrong) {
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

/** @param {string} path @returns {{ text?: string, problem?: string }} the text without the line break that editors leave at its end */
function readSecret(path) {
  const problem = whyUnreadable(path);
  if (problem) return { problem };
  const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  return text === '' ? { problem: `names a file that holds nothing: ${path}` } : { text };
}
