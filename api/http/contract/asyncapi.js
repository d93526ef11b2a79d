import { WAITED } from '../../live/broker-transport.js';
import { componentSchemas, refTo } from './openapi.js';
import { MESSAGES, PAYLOADS } from './payloads.js';
import { SCHEMAS } from './schemas.js';

const DESCRIPTION = `What devices publish, and what they hear, over MQTT. Publish with QoS 1: the acknowledgement comes when everything in a
message is committed, or is a dead letter. Measurements are told apart by the content type of MQTT 5, else by their shape.
Times are whole milliseconds. The embedded broker speaks 3.1.1; behind an external broker any client may speak 5.`;

const DEVICE = {
  description:
    'A device: a UUID in lower case, or a name of 1 to 128 bytes of UTF-8 without control characters or slashes.',
  examples: ['my-desk'],
};
const GROUP = { description: 'The group of Sparkplug.', examples: ['plant'] };
const NODE = { description: 'The edge node; as a device it is called `group/node`.', examples: ['edge-1'] };

/** @param {string} contentType @param {string} name of a schema @param {string} summary */
const jsonMessage = (contentType, name, summary) => ({ contentType, summary, payload: refTo(name) });

/** @param {string} contentType @param {string} summary */
const binaryMessage = (contentType, summary) => ({
  contentType,
  summary,
  payload: { type: 'string', format: 'binary' },
});

const SPARKPLUG = {
  sparkplug: binaryMessage(
    'application/x-protobuf',
    'A payload of Sparkplug B: birth, data or death; each metric is a sensor',
  ),
};

/**
 * Every topic: what it carries, and whether we receive it or send it. A test compares the topics with those that
 * ingest knows.
 */
export const CHANNELS = {
  measurements: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/measurements',
    title: 'A batch of measurements',
    description:
      'Each sample belongs to a sensor of the device. Retain is stripped. A wrong one does not refuse the others: a dead letter names its path and the rule that it breaks.',
    parameters: { device: DEVICE },
    messages: {
      plain: jsonMessage('application/json', 'PlainMeasurements', 'Plain JSON'),
      senmlJson: jsonMessage('application/senml+json', 'SenmlPack', 'SenML as JSON (RFC 8428)'),
      senmlCbor: binaryMessage('application/senml+cbor', 'SenML as CBOR (RFC 8428, section 6)'),
    },
  },
  birth: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/birth',
    title: 'What a device is, and its sensors',
    description:
      'Acknowledged when the registry has it. Of several sessions the newest wins, whatever the order of arrival. A wrong sensor does not refuse the others: a dead letter names its path and the rule that it breaks.',
    parameters: { device: DEVICE },
    messages: { birth: jsonMessage('application/json', 'Birth', 'A birth') },
  },
  status: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/status',
    title: 'Whether a device is there',
    description: 'Retained. The last will is the same with `offline`.',
    parameters: { device: DEVICE },
    messages: {
      status: jsonMessage('application/json', 'Status', 'A state of a session'),
      word: {
        contentType: 'text/plain',
        summary: 'A bare word',
        payload: { type: 'string', enum: ['online', 'offline'] },
      },
    },
  },
  live: {
    action: 'send',
    qos: 0,
    address: 'iot/live/{device}',
    title: 'Values that have just been committed',
    description:
      'For live readers, coalesced: of each sensor the newest. Only ingest may publish here. A lost one is not sent again; `/stream` tells what was lost within 30 seconds. Its user property `waited_ms` (MQTT 5) says for how long the oldest change in it was committed when it was sent.',
    parameters: { device: { description: "The device's UUID in lower case." } },
    messages: {
      changes: {
        ...jsonMessage('application/json', 'LiveItems', 'Sensors of the device, with their newest values'),
        headers: {
          type: 'object',
          properties: { [WAITED]: { type: 'string', pattern: '^\\d+$', description: 'Whole milliseconds.' } },
        },
      },
    },
  },
  stats: {
    action: 'send',
    qos: 0,
    address: 'iot/live/stats/{process}',
    title: 'What a process does',
    description:
      'Once a second, for those that serve readers: they add up what they heard in the last three. Only processes of the installation may publish here.',
    parameters: {
      process: { description: 'As `/pipeline` calls it in `client_id`, percent-encoded.' },
    },
    messages: {
      stats: jsonMessage(
        'application/json',
        'StatsSnapshot',
        'Its rates, its commit times and its pressure on the database',
      ),
    },
  },
  edgeNode: {
    action: 'receive',
    qos: 1,
    address: 'spBv1.0/{group}/{type}/{node}',
    title: 'A Sparkplug edge node',
    description:
      'Its own births, data and deaths. Sparkplug sends births and data with QoS 0; what is sent with 1 is acknowledged after its commit.',
    parameters: { group: GROUP, type: { enum: ['NBIRTH', 'NDATA', 'NDEATH'] }, node: NODE },
    messages: SPARKPLUG,
  },
  edgeDevice: {
    action: 'receive',
    qos: 1,
    address: 'spBv1.0/{group}/{type}/{node}/{device}',
    title: 'A device behind a Sparkplug edge node',
    description: 'It is called `group/node/device`.',
    parameters: {
      group: GROUP,
      type: { enum: ['DBIRTH', 'DDATA', 'DDEATH'] },
      node: NODE,
      device: { description: 'The last level of the topic.', examples: ['press'] },
    },
    messages: SPARKPLUG,
  },
  nodeCommand: {
    action: 'send',
    qos: 0,
    address: 'spBv1.0/{group}/NCMD/{node}',
    title: 'Asks an edge node for its births again',
    description: 'When data came that no birth explains; at most once a node in ten seconds.',
    parameters: { group: GROUP, node: NODE },
    messages: { rebirth: binaryMessage('application/x-protobuf', '`Node Control/Rebirth` = true') },
  },
  hostState: {
    action: 'send',
    qos: 1,
    address: 'spBv1.0/STATE/{host}',
    title: 'Whether we listen to edge nodes',
    description: 'Retained; our last will is the same with `false`.',
    parameters: { host: { description: 'Our id as a host application.', examples: ['millrace'] } },
    messages: { state: jsonMessage('application/json', 'HostState', 'A state') },
  },
};

/**
 * The MQTT interface as an AsyncAPI document.
 *
 * @param {{ version: string }} of
 */
export function asyncApiDocument({ version }) {
  const channels = Object.entries(CHANNELS);
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
    components: { schemas: componentSchemas({ Id, Name, Time, LatestItem, ...PAYLOADS, ...MESSAGES }) },
  };
}

/** @param {string} id @param {{ action: string }} channel */
const operationId = (id, { action }) => `${action}${id[0]?.toUpperCase()}${id.slice(1)}`;

/** @param {string} id @param {{ action: string, qos: number, title: string, messages: object }} channel */
const operationOf = (id, { action, qos, title, messages }) => ({
  action,
  channel: { $ref: `#/channels/${id}` },
  summary: title,
  bindings: { mqtt: { qos, bindingVersion: '0.2.0' } },
  messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/${id}/messages/${name}` })),
});
