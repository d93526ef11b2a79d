import type { MqttClient } from 'mqtt';

/** Messages in flight at any time. */
const PENDING = 200;

/** Publishes messages of the sensor `s` until `end`: value i at base + i. @param load `base` in epoch ms */
export function publishEndlessly(client: MqttClient, { device, base }: { device: string; base: number }) {
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
    /** Number of messages acknowledged so far. */
    get acknowledged() {
      return acknowledged;
    },
    /** @returns the number of sent messages, after all are acknowledged */
    async end(): Promise<number> {
      isEnded = true;
      await all;
      return sent;
    },
  };
}
