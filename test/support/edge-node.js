import mqtt from 'mqtt';

/**
 * An edge node of Sparkplug with one device, `press`, as a broker sees it: a will, a subscription to its commands, and
 * payloads that another implementation has encoded.
 *
 * @param {string} url
 * @param {object} options
 * @param {string} options.id of the edge node, in the group `plant`
 * @param {Buffer} options.death what the broker publishes when the connection breaks
 */
export async function connectEdgeNode(url, { id, death }) {
  const client = await mqtt.connectAsync(url, {
    reconnectPeriod: 0,
    will: { topic: `spBv1.0/plant/NDEATH/${id}`, payload: death, qos: 1, retain: false },
  });
  /** @type {boolean[]} */
  const commands = [];
  client.on('message', (_, payload) => commands.push(payload.includes('Node Control/Rebirth')));
  await client.subscribeAsync(`spBv1.0/plant/NCMD/${id}`, { qos: 1 });

  return {
    /** What the node is called here. */
    name: `plant/${id}`,
    /** What its device is called here. */
    device: `plant/${id}/press`,

    /**
     * What it was told so far, each whether it is to be born anew. A command goes out before the message that called for
     * it is acknowledged, and a connection keeps the order.
     */
    commands,

    /**
     * @param {'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH'} type
     * @param {Buffer} payload
     * @param {0 | 1} [qos] edge nodes use 0; with 1 a test knows, behind the embedded broker, when it is committed
     */
    async publish(type, payload, qos = 1) {
      const device = type.startsWith('D') ? '/press' : '';
      await client.publishAsync(`spBv1.0/plant/${type}/${id}${device}`, payload, { qos });
    },

    /** The connection breaks: the broker publishes the will. */
    break: () => void client.stream.destroy(),

    /** Says goodbye: the broker keeps the will to itself. */
    leave: () => client.endAsync(),

    connected: () => client.connected,
    end: () => client.endAsync(true),
  };
}

/** @typedef {Awaited<ReturnType<typeof connectEdgeNode>>} EdgeNode */
