import { rm } from 'node:fs/promises';
import type { TestEngine } from './database/engine.ts';
import { KEYSPACES } from './database/keyspace.ts';

export default async function stopSharedEngine() {
  const engine: TestEngine = Reflect.get(globalThis, 'sharedEngine');
  await engine.dispose();
  const keyspaces = process.env[KEYSPACES];
  if (keyspaces) await rm(keyspaces, { recursive: true, force: true });
}
