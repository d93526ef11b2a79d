import { createStatusLine } from '../../common/status-line.js';
import { CONTACT_POINT, startTestEngine } from './engine.js';

/** Starts the shared database. If jest is killed, its supervisor ends it. */
export default async function startSharedEngine() {
  const line = createStatusLine(process.stderr);
  const engine = await startTestEngine({ profile: 'disposable', onStatus: line.update });
  line.clear();
  process.env[CONTACT_POINT] = engine.contactPoint;
  // Jest passes it from the set-up to the teardown. Test files do not see it.
  Reflect.set(globalThis, 'sharedEngine', engine);
}
