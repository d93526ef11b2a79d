import { readFile, writeFile } from 'node:fs/promises';

/** Cassandra needs this form (PEMBasedSslContextFactory). Only the owner can read the file. @param files paths */
export async function writeCombinedPem(path: string, { cert, key }: { cert: string; key: string }) {
  await writeFile(path, (await readFile(key, 'utf8')) + (await readFile(cert, 'utf8')), { mode: 0o600 });
}
