import { readFile, writeFile } from 'node:fs/promises';

/**
 * Puts a private key and its certificate into one file, as Cassandra wants them (PEMBasedSslContextFactory). Only the owner can read the file.
 *
 * @param {string} path of the file
 * @param {{ cert: string, key: string }} files paths
 */
export async function writeCombinedPem(path, { cert, key }) {
  await writeFile(path, (await readFile(key, 'utf8')) + (await readFile(cert, 'utf8')), { mode: 0o600 });
}
