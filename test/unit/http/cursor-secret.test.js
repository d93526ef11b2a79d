import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { cursorSecret } from '../../../api/http/cursor.js';

const isRoot = process.geteuid?.() === 0;
/** Another user must reach the files, which it may not in a TMPDIR of this user. */
const SHARED = isRoot ? '/tmp' : tmpdir();

/** @type {string} */
let directory;
/** @type {string} */
let dataDir;
beforeEach(() => {
  directory = mkdtempSync(join(SHARED, 'millrace-cursor-'));
  dataDir = join(directory, 'data');
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = () => join(dataDir, 'cursor-secret');

test('Secret of cursors: a new directory: 32 random bytes in a file that its owner alone may read', async () => {
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

test('Secret of cursors: a new directory: it is marked as ours, so that it may be emptied', async () => {
  await cursorSecret(dataDir);
  expect(readdirSync(dataDir).sort()).toEqual(['.millrace', 'cursor-secret']);
});

test('Secret of cursors: the next start: the same secret', async () => {
  const secret = await cursorSecret(dataDir);
  expect(await cursorSecret(dataDir)).toBe(secret);
});

test('Secret of cursors: another directory: another secret', async () => {
  expect(await cursorSecret(dataDir)).not.toBe(await cursorSecret(join(directory, 'other')));
});

test('Secret of cursors: the file exists: it stays as it is', async () => {
  mkdirSync(dataDir);
  writeFileSync(file(), 'chosen by hand', { mode: 0o640 });
  expect(await cursorSecret(dataDir)).toBe('chosen by hand');
  expect(statSync(file()).mode & 0o777).toBe(0o640);
});

test('Secret of cursors: an empty file, left by a full disk: refused with its name', async () => {
  mkdirSync(dataDir);
  writeFileSync(file(), '');
  await expect(cursorSecret(dataDir)).rejects.toMatchObject({
    code: 'bad_settings',
    message: `${file()} is empty: remove it, or set CURSOR_SECRET.`,
  });
});

test('Secret of cursors: two starts at once: one secret, and no other file', async () => {
  const [one, other] = await Promise.all([cursorSecret(dataDir), cursorSecret(dataDir)]);
  expect(one).toBe(other);
  expect(readdirSync(dataDir).sort()).toEqual(['.millrace', 'cursor-secret']);
});

test('Secret of cursors: the directory may not be written: its error', async () => {
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'other'), '');
  chmodSync(directory, 0o755);
  chmodSync(dataDir, 0o555);
  // Root may write everywhere.
  if (isRoot) process.seteuid?.(4711);
  try {
    await expect(cursorSecret(dataDir)).rejects.toMatchObject({ code: 'EACCES' });
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(dataDir, 0o755);
  }
});
