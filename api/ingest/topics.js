/** What a topic of the contract carries. */
export const KINDS = /** @type {const} */ (['measurements', 'birth', 'status']);

/** @typedef {typeof KINDS[number]} Kind */

const PREFIX = 'iot/v1/';

/**
 * `iot/v1/{device}/{kind}`; a device's name may hold anything but a slash, which MQTT keeps for its levels.
 *
 * @param {string} topic
 * @returns {{ device: string, kind: Kind } | null} null: outside the contract
 */
export function parseTopic(topic) {
  if (!topic.startsWith(PREFIX)) return null;
  const slash = topic.indexOf('/', PREFIX.length);
  if (slash < 0) return null;
  const kind = /** @type {Kind} */ (topic.slice(slash + 1));
  return KINDS.includes(kind) ? { device: topic.slice(PREFIX.length, slash), kind } : null;
}
