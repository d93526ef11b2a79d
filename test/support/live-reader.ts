import mqtt, { type MqttClient } from 'mqtt';

interface Item {
  device_id: string;
  device: string;
  value: number;
}

type Received = { topic: string; items: Item[]; retain: boolean };

export async function openReader(
  url: string,
  onOpen: (client: MqttClient) => void,
): Promise<{ client: MqttClient; received: Received[] }> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5 });
  onOpen(client);
  const received: Received[] = [];
  client.on('message', (topic, payload, { retain }) =>
    received.push({ topic, items: JSON.parse(String(payload)), retain }),
  );
  return { client, received };
}
