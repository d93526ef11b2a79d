import { createAcknowledgements } from '../../ingest/acknowledgements.js';

/** @import { Writable } from 'node:stream' */
/** @import { IPublishPacket, MqttClient } from 'mqtt' */

/** The answer that MQTT.js takes as "go on with the next packet, but send no PUBACK". */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. As it comes, MQTT.js handles one
 * packet after the other and sends each PUBACK before it takes the next.
 *
 * It asks `handleMessage` for every publish. Answering with an error means: next packet, no PUBACK. So the PUBACK is
 * ours to send, later and in order of arrival. Not answering at all means: read no further, which is the back-pressure.
 * The PUBACKs go straight to the connection's stream; `test/thorough/subscriber-acknowledgements.test.js` fails when a
 * new version of MQTT.js changes what is said here.
 *
 * @param {MqttClient} client
 * @param {object} deps
 * @param {(packet: IPublishPacket) => unknown} deps.onPublish settles when the message is settled;
 *   fails when it must stay unacknowledged
 * @param {(error: Error) => void} deps.onGivenUp told of a message that failed: everything behind it waits for its
 *   acknowledgement, so the connection has to be closed, and the broker sends them all again
 * @param {{ messages: number, bytes: number }} deps.most what may be unsettled before nothing more is read
 */
export function acknowledgeAfterCommit(client, { onPublish, onGivenUp, most }) {
  const heartbeat = createHeartbeat(client);
  const open = () => ({ owed: createAcknowledgements(), pubacks: createPubacks(client.stream) });
  /** @type {ReturnType<typeof open> | null} null until its first message */
  let connection = null;
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
    connection?.owed.drop();
    connection = null;
    waiting = null;
    heartbeat.stop();
  });

  /** @param {IPublishPacket} packet @returns {() => void} to be called when the message is settled */
  function owe({ qos, messageId }) {
    if (qos === 0 || messageId === undefined) return () => {};
    connection ??= open();
    const its = connection;
    return its.owed.owe(() => {
      if (its === connection && client.connected) its.pubacks.send(messageId);
    });
  }

  /** @param {IPublishPacket} packet */
  async function take(packet) {
    const settled = owe(packet);
    const its = connection;
    const bytes = packet.payload.length;
    unsettled++;
    unsettledBytes += bytes;
    try {
      await onPublish(packet);
      settled();
    } catch (error) {
      if (taking && its === connection) onGivenUp(/** @type {Error} */ (error));
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

/** PUBACK and the length of what follows: the message id alone. A reason code of 0 may be left out (MQTT 5, 3.4.2.1). */
const HEADER = [0x40, 2];
const BYTES = 4;

/**
 * Sends the PUBACKs that fall due in one turn of the event loop in one write: a read of the database's answers settles
 * tens of messages. One by one, through MQTT.js, each costs 5 µs; so it is a tenth of that.
 *
 * @param {Writable} stream of the connection
 */
export function createPubacks(stream) {
  /** @type {number[]} */
  let due = [];

  function send() {
    const ids = due;
    due = [];
    if (stream.destroyed) return;
    const bytes = Buffer.allocUnsafe(BYTES * ids.length);
    ids.forEach((id, index) => {
      bytes.set(HEADER, BYTES * index);
      bytes.writeUInt16BE(id, BYTES * index + 2);
    });
    stream.write(bytes);
  }

  return {
    /** @param {number} id of the message */
    send(id) {
      due.push(id);
      if (due.length === 1) process.nextTick(send);
    },
  };
}

/**
 * Keeps a connection alive while nothing is read from it. MQTT.js gives a connection up when no PINGRESP came for one
 * and a half times the keepalive; while it is we who do not read, that says nothing of the broker. The broker in turn
 * wants to hear of us within the same time (MQTT 5, 3.1.2-22), and our PINGREQs tell it. A broker that is gone is
 * noticed by TCP, which cannot deliver them.
 *
 * @param {MqttClient} client
 */
function createHeartbeat(client) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  function beat() {
    if (!client.connected) return;
    client.sendPing();
    client.reschedulePing(true);
  }

  return {
    /** Reading rests from now on. */
    start() {
      if (timer || !client.keepalive) return;
      // What is left of the time for the last PINGRESP may be less than until our first beat.
      client.reschedulePing(true);
      timer = setInterval(beat, (client.keepalive * 1000) / 2);
    },

    /** Reading goes on: what comes is proof enough again. */
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
