/**
 * Reads that are under way are shared: what many ask for at once is read once.
 *
 * @template {{ id: string }} Key
 * @template T
 * @param {(key: Key) => Promise<T>} read
 * @returns {(key: Key) => Promise<T>}
 */
export function shareReads(read) {
  /** @type {Map<string, Promise<T>>} by the key's id */
  const underWay = new Map();
  return (key) => {
    const shared = underWay.get(key.id);
    if (shared) return shared;
    const answer = read(key).finally(() => underWay.delete(key.id));
    underWay.set(key.id, answer);
    return answer;
  };
}
