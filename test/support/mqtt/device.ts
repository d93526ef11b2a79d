import type { IClientPublishOptions } from 'mqtt';
import mqtt from 'mqtt';

/**
 * Connects a device over MQTT. A message is committed when its promise settles, because the acknowledgement waits for the commit.
 */
export async function connectDevice({ mqttUrl }: { mqttUrl: string }) {
  const client = await mqtt.connectAsync(mqttUrl);
  let session = Date.now();
  let closed = 0;
  client.on('close', () => closed++);

  /** At QoS 1. */
  async function publish(topic: string, payload: string | Buffer, options?: IClientPublishOptions) {
    await client.publishAsync(topic, payload, { qos: 1, ...options });
  }

  /** @param kind of the message @param content a string is published as it is */
  const send = (device: string, kind: string, content: unknown) =>
    publish(`iot/v1/${device}/${kind}`, typeof content === 'string' ? content : JSON.stringify(content));

  return {
    publish,
    send,

    birth: (
      device: string,
      birth: {
        /** epoch ms; default: later than the previous session */
        session?: number;
        site?: string;
        name?: string;
        sensors?: Array<{
          sensor_id: string;
          name?: string;
          type?: string;
          unit?: string;
          interval_ms?: number;
        }>;
      },
    ) => send(device, 'birth', { session: session++, ...birth }),

    /** @param samples one message */
    measure: (device: string, samples: Array<{ sensor_id: string; ts: number; value: number }>) =>
      send(device, 'measurements', samples),

    status: (device: string, state: 'online' | 'offline') => send(device, 'status', { state, session }),

    /** Number of times that its connection was closed. */
    closed: () => closed,

    isConnected: () => client.connected,

    end: () => client.endAsync(true),
  };
}

export type Device = Awaited<ReturnType<typeof connectDevice>>;
