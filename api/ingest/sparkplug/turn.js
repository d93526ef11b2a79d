/** @typedef {import('../../../schema/ids.js').Identity} Identity */

/**
 * A message of an edge node, in its turn.
 *
 * @typedef {object} Turn
 * @property {import('../pipeline.js').Message} message
 * @property {import('../../../schema/sparkplug-topics.js').SparkplugTopic} topic
 * @property {Identity} identity of the device, or of the node where it speaks for itself
 * @property {Identity} nodeIdentity
 * @property {import('./nodes.js').Node} node
 * @property {import('./payload/payload.js').Payload} payload
 * @property {number} sentAt epoch ms
 */

/**
 * What it comes to, in the words of all other messages.
 *
 * @typedef {object} Said
 * @property {import('../registry/birth-message.js').Birth | null} birth whose device is online from then on
 * @property {import('../registry/cache.js').Device[]} ended devices that are offline now
 * @property {import('../decode/message-batch.js').MessageBatch | null} batch
 */

/** @type {Readonly<Said>} */
export const NOTHING = { birth: null, ended: [], batch: null };

/**
 * A node's death has no number (tck-id-payloads-ndeath-seq), and its birth begins anew.
 *
 * @param {import('../../../schema/sparkplug-topics.js').SparkplugTopic} topic
 * @returns {boolean} whether the message is one of the sequence that a birth has begun
 */
export const isOfSequence = ({ type }) => type !== 'NBIRTH' && type !== 'NDEATH';

/**
 * Takes the number of a message of the sequence.
 *
 * @param {Turn} turn
 * @returns {boolean} whether anything is missing before this message, or nothing is known of its node
 */
export function isMissingSome({ message, node, payload }) {
  const inOrder = node.sequence.follows(payload.seq, message.again === true);
  return !inOrder || !node.born;
}
