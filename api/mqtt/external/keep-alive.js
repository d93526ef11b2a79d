/** @import { MqttClient } from 'mqtt' */

/**
 * Keeps a connection alive while backpressure stops reading. MQTT.js closes a connection without a PINGRESP for one and a half times
 * the keepalive, but here the PINGRESP may only be unread. The broker expects a packet from the client within the same time (MQTT 5,
 * 3.1.2-22), so the client sends PINGREQs. If the broker disappears, TCP cannot deliver them and reports it.
 */
export class KeepAlive {
  #client;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {MqttClient} client */
  constructor(client) {
    this.#client = client;
  }

  /** Reading stops now. */
  start() {
    if (this.#timer || !this.#client.keepalive) return;
    // The deadline of the last PINGRESP may come before the first beat.
    this.#client.reschedulePing(true);
    this.#timer = setInterval(() => this.#beat(), (this.#client.keepalive * 1000) / 2);
  }

  /** Reading resumes, so incoming packets keep the connection alive again. */
  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat() {
    if (!this.#client.connected) return;
    this.#client.sendPing();
    this.#client.reschedulePing(true);
  }
}
