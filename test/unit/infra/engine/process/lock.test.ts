import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  findLockHolder,
  releaseLock,
  takeLock,
  updateLock,
} from '../../../../../infra/engine/process/lock.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-lock-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** Starts a process with `dir` among its arguments, as a supervisor has. */
async function livingSupervisor() {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)', dir]);
  await once(child.stdout, 'data');
  return {
    pid: Number(child.pid),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('Lock of the local Cassandra: a free data directory: the lock is taken, and released', async () => {
  expect(await takeLock(dir)).toBe(true);
  releaseLock(dir);
  expect(await findLockHolder(dir)).toBe(null);
});

test('Lock of the local Cassandra: its supervisor process runs: the lock is held; after SIGKILL: the lock is free', async () => {
  const supervisor = await livingSupervisor();
  try {
    updateLock(dir, { supervisor: supervisor.pid, java: null, stopping: true });
    expect(await findLockHolder(dir)).toEqual({ supervisor: supervisor.pid, java: null, stopping: true });
    expect(await takeLock(dir)).toBe(false);
  } finally {
    await supervisor.kill();
  }
  expect(await findLockHolder(dir)).toBe(null);
  expect(await takeLock(dir)).toBe(true);
});
