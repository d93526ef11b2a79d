import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { MillraceError } from './errors.ts';

/** The name of an account contains no tab. If an account has several lines, the last line counts. So a rotated secret is appended. */
export const credentialLine = (account: string, secret: string) => `${account}\t${secret}`;

/** Appends, and allows only the owner of the file to read it. @throws `failed` */
export async function openCredentialsFile(path: string) {
  try {
    const file = await open(path, 'a', 0o600);
    // `open` sets the mode only of a new file.
    await file.chmod(0o600);
    return {
      add: (account: string, secret: string) => file.appendFile(`${credentialLine(account, secret)}\n`),
      close: () => file.close(),
    };
  } catch (error) {
    throw new MillraceError('failed', `${path} cannot be written: ${error}`, { cause: error });
  }
}

/** By account. @throws `usage`; the message quotes no text of the file, because the file holds secrets */
export function readCredentialsFile(path: string): Map<string, string> {
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

function readLines(path: string) {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw new MillraceError('usage', `${path} cannot be read: ${error}`, { cause: error });
  }
}
