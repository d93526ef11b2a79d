import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns the memory that is still in use. Unlike the resident size of a process, it does not depend on when the garbage was
 * collected last.
 * @returns bytes of the heap and of all buffers, after a collection
 */
export function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  // A collection that V8 has begun before keeps what was in use at its beginning. The second one begins here.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
