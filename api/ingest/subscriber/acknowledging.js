import { createAcknowledgements } from '../acknowledgements.js';
import { createHeartbeat } from './heartbeat.js';

/** The answer that MQTT.js takes as "go on with the next packet, but send no PUBACK". */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. As it comes, MQTT.js handles one
 * packet after the other and sends each PUBACK before it takes the next.
 *
 * It asks `handleMessage` for every publish. Answering with an error means: next packet, no PUBACK. So the PUBACK is
 * ours to send, later and in order of arrival. Not answering at all means: read no further, which is the back-pressure.
 * The one private function of MQTT.js that this needs is `_sendPacket`; `test/integration/subscriber.test.js` fails
 * when a new version changes what is said here.
 *
 * @param {import('mqtt').MqttClient} client
 * @param {object} parts
 * @param {(packet: import('mqtt').IPublishPacket) => Promise<unknown>} parts.onPublish settles when the message is settled;
 *   fails when it must stay unacknowledged
 * @param {(error: Error) => void} parts.onGivenUp told of a message that failed: everything behind it waits for its
 *   acknowledgement, so the connection has to be closed, and the broker sends them all again
 * @param {{ messages: number, bytes: number }} parts.most what may be unsettled before nothing more is read
 */
export function acknowledgeAfterCommit(client, { onPublish, onGivenUp, most }) {
  const sender = /** @type {{ _sendPacket: (packet: object) => void }} */ (/** @type {unknown} */ (client));
  const heartbeat = createHeartbeat(client);
  let owed = createAcknowledgements();
  let taking = true;
  let unsettled = 0;
  let unsettledBytes = 0;
  /** @type {(() => void) | null} takes the message that waits for room, and reads on behind it */
  let waiting = null;

  const full = () => unsettled >= most.messages || unsettledBytes >= most.bytes;

  function readOn() {
    if (!waiting || (taking && full())) return;
    const proceed = waiting;
    waiting = null;
    heartbeat.stop();
    proceed();
  }

  // What the old connection was owed the broker sends again on the new one.
  client.on('close', () => {
    owed.drop();
    owed = createAcknowledgements();
    waiting = null;
    heartbeat.stop();
  });

  /** @param {import('mqtt').IPublishPacket} packet @returns {() => void} to be called when the message is settled */
  function owe({ qos, messageId }) {
    if (qos === 0) return () => {};
    const connection = owed;
    return connection.owe(() => {
      if (connection !== owed || !client.connected) return;
      sender._sendPacket({ cmd: 'puback', messageId, reasonCode: 0 });
    });
  }

  /** @param {import('mqtt').IPublishPacket} packet */
  async function take(packet) {
    const connection = owed;
    const settled = owe(packet);
    const bytes = packet.payload.length;
    unsettled++;
    unsettledBytes += bytes;
    try {
      await onPublish(packet);
      settled();
    } catch (error) {
      if (taking && connection === owed) onGivenUp(/** @type {Error} */ (error));
    } finally {
      unsettled--;
      unsettledBytes -= bytes;
      readOn();
    }
  }

  client.handleMessage = (packet, callback) => {
    const proceed = () => {
      if (taking) void take(packet);
      callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    };
    if (!taking || !full()) return proceed();
    waiting = proceed;
    heartbeat.start();
  };

  return {
    /**
     * From now on messages are passed over, neither settled nor acknowledged: the broker keeps them in the session.
     * What was taken before is still acknowledged.
     */
    takeNoMore() {
      taking = false;
      readOn();
    },
  };
}
