import { stateTopic } from '../../../schema/sparkplug-topics.js';

/**
 * What a host application tells edge nodes of itself: whether it is online, retained, with QoS 1. A node that has it as
 * its primary host keeps its data while the host is not (tck-id-operational-behavior-primary-application-state-with-multiple-servers-walk).
 *
 * @param {object} deps
 * @param {string} deps.id unique in the installation (tck-id-operational-behavior-host-application-host-id)
 * @param {() => number} deps.clock epoch ms
 */
export function createHost({ id, clock }) {
  const topic = stateTopic(id);
  let connectedAt = clock();

  /** @param {boolean} online @param {number} timestamp epoch ms */
  const message = (online, timestamp) => ({
    topic,
    payload: Buffer.from(JSON.stringify({ online, timestamp })),
    qos: /** @type {const} */ (1),
    retain: true,
  });

  return {
    topic,

    /** The last will of a connection that is about to be made (tck-id-host-topic-phid-death-payload-timestamp-connect). */
    will() {
      connectedAt = clock();
      return message(false, connectedAt);
    },

    /** Its timestamp is the last will's (tck-id-host-topic-phid-birth-payload-timestamp). */
    birth: () => message(true, connectedAt),

    /** Goes before an orderly end (tck-id-operational-behavior-host-application-termination). */
    death: () => message(false, clock()),

    /**
     * @param {Buffer} payload of a state that came under this host's name
     * @returns {boolean} whether it says that we are offline, which is not so: a will that came late, or another host
     */
    isDenied(payload) {
      try {
        return JSON.parse(payload.toString('utf8')).online === false;
      } catch {
        return false;
      }
    },
  };
}

/** @typedef {ReturnType<typeof createHost>} Host */
