import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStatusLine } from '../../common/status-line.ts';
import { CONTACT_POINT, startTestEngine } from './database/engine.ts';
import { KEYSPACES } from './database/keyspace.ts';

export default async function startSharedEngine() {
  const line = createStatusLine(process.stderr);
  const engine = await startTestEngine({ onStatus: line.update });
  line.clear();
  process.env[CONTACT_POINT] = engine.contactPoint;
  process.env[KEYSPACES] = await mkdtemp(join(tmpdir(), 'millrace-keyspaces-'));
  // Jest passes global objects from the set-up to the teardown. Test files do not see them.
  Reflect.set(globalThis, 'sharedEngine', engine);
}
