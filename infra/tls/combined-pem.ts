import { readFile, writeFile } from 'node:fs/promises';

/**
 * Writes a private key and its certificate into one file, as Cassandra needs them (PEMBasedSslContextFactory). Only the owner can read the
 * file.
 * @param path path of the new file
 * @param files paths of the certificate and its private key
 */
export async function writeCombinedPem(path: string, { cert, key }: { cert: string; key: string }) {
  await writeFile(path, (await readFile(key, 'utf8')) + (await readFile(cert, 'utf8')), { mode: 0o600 });
}
