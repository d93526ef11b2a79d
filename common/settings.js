import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { arrange } from './config.js';
import { contradictions } from './contradictions.js';
import { MillraceError } from './errors.js';
import { readableFile } from './setting-readers.js';
import { SETTINGS } from './settings-table.js';

/** @import { Config } from './config.js' */
/** @import { Setting } from './settings-table.js' */

/**
 * Reads all settings; every problem is reported at once, by name. An empty value is no value.
 *
 * @param {NodeJS.ProcessEnv} [environment] goes before what stands in the file
 * @param {{ envFile?: string }} [options] default: `.env` in the working directory, if it is there
 * @throws {MillraceError} `bad_settings`
 */
export function readSettings(environment = process.env, { envFile = '.env' } = {}) {
  const given = { ...readEnvFile(envFile), ...environment };
  /** @type {Map<string, string>} what is wrong, by the setting's name */
  const wrong = new Map();
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [name, readValue(name, setting, given, wrong)]),
  );
  const config = arrange(values);
  // A setting that cannot be read is no ground to complain about others beside it.
  const beside = contradictions(config).filter((says) => !says.split(/\W+/).some((word) => wrong.has(word)));
  const problems = [...wrong.values(), ...beside];
  if (problems.length > 0) {
    const lines = problems.map((says) => `  ${says}`);
    throw new MillraceError('bad_settings', `Settings to mend:\n${lines.join('\n')}`);
  }
  return config;
}

/**
 * Reads one setting, whatever the others are: they may name what is only about to be made.
 *
 * @param {string} name
 * @param {NodeJS.ProcessEnv} [environment] goes before what stands in the file
 * @param {{ envFile?: string }} [options] default: `.env` in the working directory, if it is there
 * @returns {any} its value
 * @throws {MillraceError} `bad_settings`
 */
export function readSetting(name, environment = process.env, { envFile = '.env' } = {}) {
  const wrong = new Map();
  const setting = /** @type {Setting} */ (SETTINGS[name]);
  const value = readValue(name, setting, { ...readEnvFile(envFile), ...environment }, wrong);
  if (wrong.size > 0) throw new MillraceError('bad_settings', wrong.get(name));
  return value;
}

/**
 * @param {string} path
 * @returns {Record<string, string>} empty where there is no such file
 * @throws {MillraceError} `bad_settings`
 */
export function readEnvFile(path) {
  try {
    return parseDotenv(readFileSync(path));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return {};
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
}

/**
 * @param {string} name
 * @param {Setting} setting
 * @param {NodeJS.ProcessEnv} given
 * @param {Map<string, string>} wrong gets a sentence when there is no value to be had
 */
function readValue(name, setting, given, wrong) {
  const fileName = `${name}_FILE`;
  const file = setting.secret ? given[fileName] : undefined;
  try {
    if (file && given[name]) throw new Error(`is set beside ${name}; take one of them away`);
    const value = file ? readSecret(file) : given[name] || setting.fallback;
    return value === undefined ? undefined : setting.read(value);
  } catch (error) {
    wrong.set(name, `${file ? fileName : name} ${/** @type {Error} */ (error).message}`);
    return undefined;
  }
}

/** @param {string} path @returns {string} what the file holds, without the line break that editors leave at its end */
function readSecret(path) {
  const secret = readFileSync(readableFile(path), 'utf8').replace(/\r?\n$/, '');
  if (secret === '') throw new Error(`names a file that holds nothing: ${path}`);
  return secret;
}
