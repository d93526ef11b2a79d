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
 * @param {import('mqtt').MqttClient} client not connected yet
 * @param {import('../../ingest/sparkplug/host.js').Host} host
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
