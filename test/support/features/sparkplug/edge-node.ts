import mqtt from 'mqtt';

/**
 * Connects an edge node of Sparkplug with one device, `press`. It has a will, a subscription to its commands, and
 * payloads that another implementation encoded.
 */
export async function connectEdgeNode(
  url: string,
  {
    id,
    death,
  }: {
    /** of the edge node, in the group `plant` */
    id: string;
    /** payload of the will */
    death: Buffer;
  },
) {
  const client = await mqtt.connectAsync(url, {
    reconnectPeriod: 0,
    will: { topic: `spBv1.0/plant/NDEATH/${id}`, payload: death, qos: 1, retain: false },
  });
  const commands: boolean[] = [];
  client.on('message', (_, payload) => commands.push(payload.includes('Node Control/Rebirth')));
  await client.subscribeAsync(`spBv1.0/plant/NCMD/${id}`, { qos: 1 });

  return {
    name: `plant/${id}`,
    device: `plant/${id}/press`,

    /**
     * The commands that it received, each true for a rebirth. A command is sent before the message that caused it is
     * acknowledged, and a connection keeps the order.
     */
    commands,

    /** @param qos edge nodes use 0; with 1 the acknowledgement of the embedded broker shows the commit */
    async publish(
      type: 'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH',
      payload: Buffer,
      qos: 0 | 1 = 1,
    ) {
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

export type EdgeNode = Awaited<ReturnType<typeof connectEdgeNode>>;
