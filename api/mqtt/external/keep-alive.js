/** @import { MqttClient } from 'mqtt' */

/**
 * Keeps a connection alive while backpressure stops reading. MQTT.js closes a connection without a PINGRESP
 * for one and a half times the keepalive, but the PINGRESP may only be unread. The broker expects a packet
 * from the client within the same time (MQTT 5, 3.1.2-22), so the client sends PINGREQs. If the broker
 * disappears, TCP cannot deliver them and reports it.
 *
 * Under overload reading stops and resumes thousands of times a second. So the PINGREQs continue across these
 * stops. Messages of QoS 0 have no PUBACK, and without the PINGREQs the broker would receive nothing.
 */
export class KeepAlive {
  #client;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #isReading = true;
  /** Whether reading has been stopped at any time since the last PINGREQ. */
  #hasStopped = false;

  /** @param {MqttClient} client */
  constructor(client) {
    this.#client = client;
  }

  /** Called when reading stops. */
  stopReading() {
    this.#isReading = false;
    this.#hasStopped = true;
    if (this.#timer || !this.#client.keepalive) return;
    // The last PINGREQ may be one keepalive old, and the first one of the timer may come too late.
    this.#ping();
    this.#timer = setInterval(() => this.#beat(), (this.#client.keepalive * 1000) / 2);
  }

  /** Called when reading resumes. */
  resumeReading() {
    this.#isReading = true;
  }

  /** Called when the connection closed, or when no message stops reading any more. */
  end() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat() {
    // Reading did not stop since the last PINGREQ, so the incoming packets keep the connection alive again.
    if (!this.#hasStopped) {
      this.end();
      return;
    }
    this.#hasStopped = !this.#isReading;
    this.#ping();
  }

  #ping() {
    if (!this.#client.connected) return;
    this.#client.sendPing();
    // MQTT.js would wait for the PINGRESP, which may be unread until reading resumes.
    this.#client.reschedulePing(true);
  }
}
