/** @import { MqttClient } from 'mqtt' */

/** Messages on their way at any time. */
const PENDING = 200;

/**
 * Publishes one message after the other until it is ended: of the sensor `s`, value i at base + i.
 *
 * @param {MqttClient} client
 * @param {{ device: string, base: number }} load `base` in epoch ms
 */
export function publishEndlessly(client, { device, base }) {
  let sent = 0;
  let acknowledged = 0;
  let isEnded = false;
  async function publishInTurn() {
    while (!isEnded) {
      const value = sent++;
      const payload = JSON.stringify({ sensor_id: 's', ts: base + value, value });
      await client.publishAsync(`iot/v1/${device}/measurements`, payload, { qos: 1 });
      acknowledged++;
    }
  }
  const all = Promise.all(Array.from({ length: PENDING }, publishInTurn));

  return {
    /** Messages that were acknowledged so far. */
    get acknowledged() {
      return acknowledged;
    },
    /** @returns {Promise<number>} settles when everything is acknowledged: how many messages were sent */
    async end() {
      isEnded = true;
      await all;
      return sent;
    },
  };
}
