/**
 * Keeps a connection alive while nothing is read from it. MQTT.js gives a connection up when no PINGRESP came for one
 * and a half times the keepalive; while it is we who do not read, that says nothing of the broker. The broker in turn
 * wants to hear of us within the same time (MQTT 5, 3.1.2-22), and our PINGREQs tell it. A broker that is gone is
 * noticed by TCP, which cannot deliver them.
 *
 * @param {import('mqtt').MqttClient} client
 */
export function createHeartbeat(client) {
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
