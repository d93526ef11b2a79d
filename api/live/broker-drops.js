/** Mosquitto says here how many messages it dropped since it started, because a client's queue was full. */
const DROPPED = '$SYS/broker/publish/messages/dropped';

/**
 * What an external broker says that it dropped: messages that were acknowledged to their device, and never came here. Mosquitto
 * alone tells it by MQTT; of other brokers nothing is heard, nor of one that does not let us read it.
 *
 * @param {import('mqtt').MqttClient} client
 * @param {Pick<import('../observability/metrics.js').Metrics, 'gauge'>} metrics
 */
export function createBrokerDrops(client, metrics) {
  let dropped = Number.NaN;
  metrics.gauge(
    'iot_broker_dropped_messages',
    'Messages that the external broker dropped since it started, as Mosquitto says on $SYS; left out where it says nothing',
    () => dropped,
  );

  return {
    async subscribe() {
      try {
        await client.subscribeAsync(DROPPED, { qos: 0 });
      } catch {
        // It may not be ours to read; that is no trouble of live changes.
      }
    },

    /** @param {string} topic @param {Buffer} payload @returns {boolean} whether this was for us */
    hear(topic, payload) {
      if (topic !== DROPPED) return false;
      dropped = Number(payload.toString('latin1'));
      return true;
    },

    /** The connection is gone: what was heard may be of a broker that has started anew since. */
    forget() {
      dropped = Number.NaN;
    },
  };
}
