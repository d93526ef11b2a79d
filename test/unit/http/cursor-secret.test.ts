import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { cursorSecret } from '../../../api/http/cursor.ts';

const isRoot = process.geteuid?.() === 0;
/** A different user must reach the files. The TMPDIR of this user may be closed to it. */
const SHARED = isRoot ? '/tmp' : tmpdir();

let directory: string;
let dataDir: string;
beforeEach(() => {
  directory = mkdtempSync(join(SHARED, 'millrace-cursor-'));
  dataDir = join(directory, 'data');
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = () => join(dataDir, 'cursor-secret');

test('Cursor secret: new data directory: 32 random bytes are written to a file with mode 600', async () => {
  const umask = process.umask(0);
  try {
    const secret = await cursorSecret(dataDir);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(file(), 'utf8')).toBe(secret);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(umask);
  }
});

test('Cursor secret: second start in the same data directory: the secret of the first start is read', async () => {
  const secret = await cursorSecret(dataDir);
  expect(await cursorSecret(dataDir)).toBe(secret);
});

test('Cursor secret: the file is empty, as after a full disk: the start fails with an error that names the file', async () => {
  mkdirSync(dataDir);
  writeFileSync(file(), '');
  await expect(cursorSecret(dataDir)).rejects.toMatchObject({
    code: 'bad_settings',
    message: `${file()} is empty: remove it, or set CURSOR_SECRET.`,
  });
});

test('Cursor secret: two processes start at once: both get the same secret, and no temporary file is left', async () => {
  const [one, other] = await Promise.all([cursorSecret(dataDir), cursorSecret(dataDir)]);
  expect(one).toBe(other);
  expect(readdirSync(dataDir).sort()).toEqual(['.millrace', 'cursor-secret']);
});
