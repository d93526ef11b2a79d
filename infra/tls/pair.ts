import { chmod, readFile, rename, stat } from 'node:fs/promises';
import { MillraceError } from '../../common/errors.ts';
import { hostList, namesIn } from './hosts.ts';

type Pair = { certificate: string; key: string };

const fileExists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** @throws if only one of the two files exists */
export async function hasBoth({ certificate, key }: Pair) {
  const [hasCertificate, hasKey] = [await fileExists(certificate), await fileExists(key)];
  if (hasCertificate === hasKey) return hasKey;
  const [there, missing] = hasKey ? [key, certificate] : [certificate, key];
  throw new MillraceError(
    'failed',
    `${there} is there, and ${missing} is not: put it back, or choose another --out.`,
  );
}

/** @returns null: the certificate is missing or damaged */
export async function namesBefore(path: string): Promise<string[] | null> {
  try {
    return namesIn(await readFile(path));
  } catch {
    return null;
  }
}

/** @param before null: the certificate is missing or damaged @param wanted null: no names were requested */
export async function refuseOverwriting(
  { certificate, key }: Pair,
  before: string[] | null,
  wanted: string[] | null,
) {
  for (const path of [certificate, key]) {
    if (!(await fileExists(path))) continue;
    const missing = wanted?.filter((name) => !before?.includes(name)) ?? [];
    if (!before || missing.length === 0) {
      throw new MillraceError('failed', `${path} is there already, and stays; --renew replaces it.`);
    }
    const all = hostList([...before, ...missing]);
    throw new MillraceError(
      'failed',
      `${path} is there already, and is not for ${hostList(missing)}; --renew --host ${all} replaces it for all of them.`,
    );
  }
}

export async function moveBoth(from: Pair, to: Pair) {
  await chmod(from.key, 0o600);
  await chmod(from.certificate, 0o644);
  await rename(from.key, to.key);
  await rename(from.certificate, to.certificate);
}
