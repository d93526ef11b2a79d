import { parseTopic } from '../topics.js';

/** Where messages outside the contract go instead of their own topic: nobody is served from it. */
export const DROPPED = '$SYS/dropped';

/** The largest status that is retained, in bytes; that of the contract takes about 50. */
const MOST_RETAINED_BYTES = 1024;

/** aedes' own limit, which it cannot raise: it closes the connection for a topic that has more levels. */
const MOST_LEVELS = 100;

/**
 * What other clients get to see of a message: the contract's topics; retained is a status that was accepted, and
 * nothing else.
 *
 * @param {import('aedes').PublishPacket} packet is changed
 * @param {import('../pipeline.js').Outcome} outcome
 */
export function restrict(packet, outcome) {
  const topic = parseTopic(packet.topic);
  if (outcome === 'foreign') packet.topic = DROPPED;
  const retainable = topic?.kind === 'status' && outcome === 'accepted';
  if (!retainable || packet.payload.length > MOST_RETAINED_BYTES) packet.retain = false;
}

/**
 * A publish with more levels than aedes takes goes to the dropped topic before aedes sees it, so that it is
 * acknowledged and counted as others outside the contract are: a device that is thrown out comes back with it for ever.
 * aedes has no hook that early: `_parser` is its own.
 *
 * @param {import('aedes').Client} client
 */
export function dropDeepTopics(client) {
  const { _parser } = /** @type {{ _parser: import('node:events').EventEmitter }} */ (
    /** @type {unknown} */ (client)
  );
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd !== 'publish' || packet.topic.split('/', MOST_LEVELS + 1).length <= MOST_LEVELS) return;
    packet.topic = DROPPED;
  });
}
