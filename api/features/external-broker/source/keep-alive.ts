import type { MqttClient } from 'mqtt';

/**
 * MQTT.js closes a connection if no PINGRESP arrives for one and a half times the keepalive, but under backpressure the
 * PINGRESP may have arrived unread. The broker expects a packet within the same time (MQTT 5, 3.1.2-22), so the client
 * sends PINGREQs. If the broker disappears, TCP cannot deliver them, and reports an error.
 *
 * Under overload reading stops and resumes thousands of times a second, so the PINGREQs continue while reading resumes
 * for a short time. Messages of QoS 0 have no PUBACK, so without the PINGREQs the broker would receive nothing.
 */
export class KeepAlive {
  #client;
  #timer: NodeJS.Timeout | undefined;
  #isReading = true;
  /** since the last PINGREQ */
  #hasStopped = false;

  constructor(client: MqttClient) {
    this.#client = client;
  }

  stopReading() {
    this.#isReading = false;
    this.#hasStopped = true;
    if (this.#timer || !this.#client.keepalive) return;
    // The last PINGREQ may be one keepalive old, and the first PINGREQ of the timer may be too late.
    this.#ping();
    this.#timer = setInterval(() => this.#beat(), (this.#client.keepalive * 1000) / 2);
  }

  resumeReading() {
    this.#isReading = true;
  }

  end() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat() {
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
    // Without this call MQTT.js would wait for the PINGRESP, which may stay unread until reading resumes.
    this.#client.reschedulePing(true);
  }
}
