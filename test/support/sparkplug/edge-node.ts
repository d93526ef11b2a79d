import mqtt from 'mqtt';

/**
 * Connects an edge node of Sparkplug with one device, `press`. It has a will, a subscription to its commands, and
 * payloads that another implementation encoded.
 *
 * @param {string} url
 * @param {object} options
 * @param {string} options.id of the edge node, in the group `plant`
 * @param {Buffer} options.death payload of the will
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
    /** Name of the node in Millrace. */
    name: `plant/${id}`,
    /** Name of its device in Millrace. */
    device: `plant/${id}/press`,

    /**
     * The commands that it received, each true for a rebirth. A command is sent before the message that caused it is
     * acknowledged, and a connection keeps the order.
     */
    commands,

    /**
     * @param {'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH'} type
     * @param {Buffer} payload
     * @param {0 | 1} [qos] edge nodes use 0; with 1 the acknowledgement of the embedded broker shows the commit
     */
    async publish(type, payload, qos = 1) {
      const device = type.startsWith('D') ? '/press' : '';
      await client.publishAsync(`spBv1.0/plant/${type}/${id}${device}`, payload, { qos });
    },

    /** Breaks the connection, so the broker publishes the will. */
    break: () => void client.stream.destroy(),

    /** Disconnects in order, so the broker discards the will. */
    leave: () => client.endAsync(),

    connected: () => client.connected,
    end: () => client.endAsync(true),
  };
}

/** @typedef {Awaited<ReturnType<typeof connectEdgeNode>>} EdgeNode */
