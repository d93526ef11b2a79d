import { createAcknowledgements } from '../acknowledgements.js';

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
 * @param {(packet: import('mqtt').IPublishPacket) => Promise<void>} parts.onPublish settles when the message is settled;
 *   fails when it must stay unacknowledged
 * @param {number} parts.mostUnsettled messages that may be unsettled before nothing more is read
 */
export function acknowledgeAfterCommit(client, { onPublish, mostUnsettled }) {
  const sender = /** @type {{ _sendPacket: (packet: object) => void }} */ (/** @type {unknown} */ (client));
  let owed = createAcknowledgements();
  let unsettled = 0;
  let lastSettledAt = Date.now();
  /** @type {Array<() => void>} reading goes on when these are called */
  const heldBack = [];

  // What the old connection was owed the broker sends again on the new one.
  client.on('close', () => {
    owed.drop();
    owed = createAcknowledgements();
  });

  client.handleMessage = (packet, callback) => {
    const proceed = () => callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    const connection = owed;
    const settled =
      packet.qos > 0
        ? connection.owe(() => {
            if (connection === owed && client.connected) {
              sender._sendPacket({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0 });
            }
          })
        : () => {};
    unsettled++;
    onPublish(packet)
      .then(settled, () => {})
      .finally(() => {
        unsettled--;
        lastSettledAt = Date.now();
        heldBack.shift()?.();
      });
    if (unsettled < mostUnsettled) proceed();
    else heldBack.push(proceed);
  };

  return {
    get unsettled() {
      return unsettled;
    },
    /** @returns {number} ms for which messages have been waiting and none was settled */
    get stuckForMs() {
      return unsettled === 0 ? 0 : Date.now() - lastSettledAt;
    },
  };
}
