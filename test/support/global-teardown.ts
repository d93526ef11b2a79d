import { rm } from 'node:fs/promises';
import { KEYSPACES } from './database/keyspace.js';

/** @import { TestEngine } from './database/engine.js' */

export default async function stopSharedEngine() {
  /** @type {TestEngine} */
  const engine = Reflect.get(globalThis, 'sharedEngine');
  await engine.dispose();
  const keyspaces = process.env[KEYSPACES];
  if (keyspaces) await rm(keyspaces, { recursive: true, force: true });
}
