import { rm } from 'node:fs/promises';
import { KEYSPACES } from './keyspace.js';

/** @import { TestEngine } from './engine.js' */

export default async function stopSharedEngine() {
  /** @type {TestEngine} */
  const engine = Reflect.get(globalThis, 'sharedEngine');
  await engine.dispose();
  const keyspaces = process.env[KEYSPACES];
  if (keyspaces) await rm(keyspaces, { recursive: true, force: true });
}
