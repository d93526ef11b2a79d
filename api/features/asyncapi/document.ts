import type { Channel } from '../../http/contract/channels.ts';
import type { Contract } from '../../http/contract/openapi.ts';
import { componentSchemas, mergeOf, PAYLOADS, SCHEMAS } from '../../http/index.ts';

const DESCRIPTION = `The MQTT topics that devices publish to and subscribe to. Publish with QoS 1. The acknowledgement comes when all measurements of a
message are committed or in a dead letter. The content type of MQTT 5 selects the format of measurements; without it the shape of the payload does.
Times are whole milliseconds. The embedded broker supports MQTT 3.1.1 and 5. With MQTT 5 its PUBACK has the reason of a refusal: 0x99 wrong payload, 0x97 quota,
0x87 not authorized or not registered, 0x83 rejected by the database, 0x90 unknown topic. The reason string begins with the error code.`;

export function asyncApiDocument(contracts: Contract[], { version }: { version: string }) {
  const channels = Object.entries(mergeOf(contracts.map((contract) => contract.channels)));
  const { Id, Name, Time, LatestItem } = SCHEMAS;
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Millrace',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.map(([id, { action, qos, ...channel }]) => [id, channel])),
    operations: Object.fromEntries(
      channels.map(([id, channel]) => [operationId(id, channel), operationOf(id, channel)]),
    ),
    components: {
      schemas: componentSchemas({
        Id,
        Name,
        Time,
        LatestItem,
        ...PAYLOADS,
        ...mergeOf(contracts.map(({ messages }) => messages)),
      }),
    },
  };
}

const operationId = (id: string, { action }: Channel) => `${action}${id[0]?.toUpperCase()}${id.slice(1)}`;

const operationOf = (id: string, { action, qos, title, messages }: Channel) => ({
  action,
  channel: { $ref: `#/channels/${id}` },
  summary: title,
  bindings: { mqtt: { qos, bindingVersion: '0.2.0' } },
  messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/${id}/messages/${name}` })),
});
