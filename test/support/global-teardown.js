/** @import { TestEngine } from './engine.js' */

export default async function stopSharedEngine() {
  /** @type {TestEngine} */
  const engine = Reflect.get(globalThis, 'sharedEngine');
  await engine.dispose();
}
