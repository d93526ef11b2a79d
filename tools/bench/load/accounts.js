import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashSecret } from '../../../api/access/credentials/secret.js';
import { INSTALLATION_RIGHTS, passwordLine } from '../../../api/commands/credentials/mosquitto.js';

/**
 * Paths of an authority and of what it signed, for everything on this machine.
 *
 * @typedef {{ ca: string, cert: string, key: string }} Certificates
 */

/**
 * The protection of an installation that other hosts can reach.
 *
 * @typedef {object} Guard
 * @property {boolean} [accounts] clients of the broker sign in, and every message is checked against their permissions
 * @property {Certificates} [tls] MQTT and CQL are encrypted
 */

/**
 * How a client gets past a guard.
 *
 * @typedef {object} Access
 * @property {string} [ca] path of the authority's certificate; none: without TLS
 * @property {SignIn[]} accounts shared out over its connections; none: it does not sign in
 */

/** @typedef {{ username: string, password: string }} SignIn */

/** @returns {SignIn} the account of an installation's own programs */
export const makeSignIn = () => ({ username: 'bench', password: randomBytes(24).toString('base64url') });

/**
 * @param {string} dir where a Mosquitto keeps its own
 * @param {Guard} guard
 * @param {SignIn} [signIn] the account that it admits; none: it admits everybody
 * @returns {Promise<string[]>} lines of its configuration, behind its listener's
 */
export async function guardLines(dir, { tls }, signIn) {
  const lines = tls ? [`certfile ${tls.cert}`, `keyfile ${tls.key}`] : [];
  if (!signIn) return [...lines, 'allow_anonymous true'];
  const { username, password } = signIn;
  const files = { passwords: join(dir, 'passwords'), acl: join(dir, 'acl') };
  await mkdir(dir, { recursive: true });
  await writeFile(files.passwords, `${passwordLine(username, await hashSecret(password))}\n`, {
    mode: 0o600,
  });
  await writeFile(files.acl, [`user ${username}`, ...INSTALLATION_RIGHTS, ''].join('\n'), { mode: 0o600 });
  return [...lines, 'allow_anonymous false', `password_file ${files.passwords}`, `acl_file ${files.acl}`];
}

/** @param {Guard} guard @param {SignIn} [signIn] @returns {NodeJS.ProcessEnv} settings of an ingest process behind a broker */
export const settingsBehind = ({ tls }, signIn) => ({
  ...(tls && { CQL_TLS_CA: tls.ca, MQTT_TLS_CA: tls.ca }),
  ...(signIn && { MQTT_USERNAME: signIn.username, MQTT_PASSWORD: signIn.password }),
});

/** @param {Guard} guard @returns {NodeJS.ProcessEnv} settings of an ingest process that is the broker */
export const settingsOfBroker = ({ accounts, tls }) => ({
  MQTT_AUTH: String(accounts === true),
  ...(tls && { CQL_TLS_CA: tls.ca, MQTT_TLS_CERT: tls.cert, MQTT_TLS_KEY: tls.key }),
});
