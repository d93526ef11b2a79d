export default async function stopSharedEngine() {
  /** @type {import('./engine.js').TestEngine} */
  const engine = Reflect.get(globalThis, 'sharedEngine');
  await engine.dispose();
}
