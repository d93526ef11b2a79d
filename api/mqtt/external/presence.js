/** @import { MqttClient } from 'mqtt' */
/** @import { Host } from '../../ingest/sparkplug/host.js' */

/** MQTT 5, section 3.4.2.1. Mosquitto 2.0.11 may close the connection as well, each time. */
const NOT_AUTHORIZED = 0x87;

/**
 * Says at the broker whether this host application is there. It is the subscriber's own connection that says it, so
 * that a host counts as online exactly while it hears what edge nodes say.
 *
 * Sparkplug demands a clean session of hosts (tck-id-message-flow-phid-sparkplug-clean-session-50). This one is kept, as
 * for all that is acknowledged after its commit: an NDEATH has QoS 1, and missed during a restart of ours it would leave
 * its node online for ever.
 *
 * @param {MqttClient} client not connected yet
 * @param {Host} host
 * @param {() => void} onForbidden the broker does not let us say it
 */
export function createPresence(client, host, onForbidden) {
  let present = false;

  const prepare = () => {
    client.options.will = host.will();
  };
  prepare();
  client.on('reconnect', prepare);

  /** @param {ReturnType<typeof host.birth>} message */
  function say({ topic, payload, qos, retain }) {
    if (!client.connected) return;
    client.publish(topic, payload, { qos, retain }, (error) => {
      if (/** @type {{ code?: number } | undefined} */ (error)?.code === NOT_AUTHORIZED) onForbidden();
    });
  }

  return {
    /** The subscriptions stand (tck-id-message-flow-phid-sparkplug-state-publish). */
    announce() {
      present = true;
      say(host.birth());
    },

    /** @param {Buffer} payload of a state under our name */
    hear(payload) {
      if (present && host.isDenied(payload)) say(host.birth());
    },

    /** Nothing more is taken from now on. */
    leave() {
      present = false;
      say(host.death());
    },
  };
}

/** @typedef {ReturnType<typeof createPresence>} Presence */

/** MQTT 5, section 3.14.2.1: another connection took this session over. */
const SESSION_TAKEN_OVER = 0x8e;

/** A connection that the broker closes within this time, in ms, was closed for its own sake: the other is back in a second. */
const SHORT_MS = 3000;

/** So many of them in a row, the broker taking each connection at once, are another process that does as we do. */
const SHORT_CONNECTIONS = 4;

/**
 * Notices that another process uses our client id. A broker should say so when it closes the connection, but
 * Mosquitto 2.0.11 closes it without a word; then both processes would take the session from each other for ever. Of
 * the two the older notices first: a process's first connection is not counted, so the newer is one behind.
 *
 * @param {MqttClient} client
 * @param {() => void} onTaken
 */
export function watchForTakeover(client, onTaken) {
  let connections = 0;
  let short = 0;
  /** @type {number | null} epoch ms; null while there is no connection */
  let connectedAt = null;

  client.on('connect', () => {
    connections++;
    connectedAt = Date.now();
  });
  // A broker that refuses us, or a network that fails, is something else. On a connection that stands, an error is how
  // its end looks under load: closed with PUBACKs of ours unread, it is reset.
  client.on('error', () => {
    if (connectedAt === null) short = 0;
  });
  client.on('disconnect', ({ reasonCode }) => {
    if (reasonCode === SESSION_TAKEN_OVER) onTaken();
  });
  client.on('close', () => {
    if (connectedAt === null) return;
    short = connections > 1 && Date.now() - connectedAt < SHORT_MS ? short + 1 : 0;
    connectedAt = null;
    if (short === SHORT_CONNECTIONS) onTaken();
  });

  return {
    /** It is we who close this connection. */
    closing() {
      connectedAt = null;
    },
  };
}
