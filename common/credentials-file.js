import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { MillraceError } from './errors.js';

/**
 * A file of devices' credentials, one a line: the account, a tab, its secret. A name has no tab in it. Of an account that stands
 * there twice the last line counts, so a secret that was made anew is written behind the old one.
 *
 * @param {string} account
 * @param {string} secret
 */
export const credentialLine = (account, secret) => `${account}\t${secret}`;

/**
 * Opens such a file to be written on, or makes it; from now on its owner alone may read it.
 *
 * @param {string} path
 * @throws {MillraceError} `failed`
 */
export async function openCredentialsFile(path) {
  try {
    const file = await open(path, 'a', 0o600);
    // It may have been there.
    await file.chmod(0o600);
    return {
      /** @param {string} account @param {string} secret */
      add: (account, secret) => file.appendFile(`${credentialLine(account, secret)}\n`),
      close: () => file.close(),
    };
  } catch (error) {
    throw new MillraceError('failed', `${path} cannot be written: ${error}`, { cause: error });
  }
}

/**
 * @param {string} path
 * @returns {Map<string, string>} secrets by account
 * @throws {MillraceError} `usage`, which shows nothing of what the file holds
 */
export function readCredentialsFile(path) {
  const secrets = new Map();
  for (const [index, line] of readLines(path).entries()) {
    const [account, secret, ...rest] = line.split('\t');
    if (line === '') continue;
    if (!account || !secret || rest.length > 0) {
      throw new MillraceError('usage', `Line ${index + 1} of ${path} is no account, a tab and its secret.`);
    }
    secrets.set(account, secret);
  }
  return secrets;
}

/** @param {string} path */
function readLines(path) {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw new MillraceError('usage', `${path} cannot be read: ${error}`, { cause: error });
  }
}
