import mqtt from 'mqtt';

/** @import { IClientPublishOptions } from 'mqtt' */

/**
 * Connects a device over MQTT. A message is committed when its promise settles, because the acknowledgement waits for the commit.
 *
 * @param {{ mqttUrl: string }} system
 */
export async function connectDevice({ mqttUrl }) {
  const client = await mqtt.connectAsync(mqttUrl);
  let session = Date.now();
  let closed = 0;
  client.on('close', () => closed++);

  /** At QoS 1. @param {string} topic @param {string | Buffer} payload @param {IClientPublishOptions} [options] */
  async function publish(topic, payload, options) {
    await client.publishAsync(topic, payload, { qos: 1, ...options });
  }

  /** @param {string} device @param {string} kind of the message @param {unknown} content a string is published as it is */
  const send = (device, kind, content) =>
    publish(`iot/v1/${device}/${kind}`, typeof content === 'string' ? content : JSON.stringify(content));

  return {
    publish,
    send,

    /**
     * @param {string} device
     * @param {object} birth
     * @param {number} [birth.session] epoch ms; default: later than the previous session
     * @param {string} [birth.site]
     * @param {string} [birth.name]
     * @param {Array<{ sensor_id: string, name?: string, type?: string, unit?: string, interval_ms?: number }>} [birth.sensors]
     */
    birth: (device, birth) => send(device, 'birth', { session: session++, ...birth }),

    /** @param {string} device @param {Array<{ sensor_id: string, ts: number, value: number }>} samples one message */
    measure: (device, samples) => send(device, 'measurements', samples),

    /** @param {string} device @param {'online' | 'offline'} state */
    status: (device, state) => send(device, 'status', { state, session }),

    /** Number of times that its connection was closed. */
    closed: () => closed,

    isConnected: () => client.connected,

    end: () => client.endAsync(true),
  };
}

/** @typedef {Awaited<ReturnType<typeof connectDevice>>} Device */
