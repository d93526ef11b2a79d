import { z } from 'zod';
import { binaryMessage, type Channel, jsonMessage } from '../../http/index.ts';

const GROUP = { description: 'The group of Sparkplug.', examples: ['plant'] };
const NODE = { description: 'The edge node. Its name as a device is `group/node`.', examples: ['edge-1'] };

const SPARKPLUG = {
  sparkplug: binaryMessage(
    'application/x-protobuf',
    'A payload of Sparkplug B: birth, data or death; each metric is a sensor',
  ),
};

const HostState = z
  .strictObject({ online: z.boolean(), timestamp: z.int() })
  .meta({ description: 'Whether Millrace listens to edge nodes, and since when in epoch milliseconds.' });

export const MESSAGES = { HostState };

export const CHANNELS = {
  edgeNode: {
    action: 'receive',
    qos: 1,
    address: 'spBv1.0/{group}/{type}/{node}',
    title: 'A Sparkplug edge node',
    description:
      'Births, data and deaths of the node itself. Sparkplug sends births and data with QoS 0. A message with QoS 1 is acknowledged after its commit.',
    parameters: { group: GROUP, type: { enum: ['NBIRTH', 'NDATA', 'NDEATH'] }, node: NODE },
    messages: SPARKPLUG,
  },
  edgeDevice: {
    action: 'receive',
    qos: 1,
    address: 'spBv1.0/{group}/{type}/{node}/{device}',
    title: 'A device behind a Sparkplug edge node',
    description: 'Its name as a device is `group/node/device`.',
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
    title: 'Requests the births of an edge node again',
    description: 'Sent after data without a matching birth, at most once in ten seconds for each node.',
    parameters: { group: GROUP, node: NODE },
    messages: { rebirth: binaryMessage('application/x-protobuf', '`Node Control/Rebirth` = true') },
  },
  hostState: {
    action: 'send',
    qos: 1,
    address: 'spBv1.0/STATE/{host}',
    title: 'The state of Millrace as the host of edge nodes',
    description: 'Retained. The last will is the same message with `false`.',
    parameters: {
      host: { description: 'The id of Millrace as a host application.', examples: ['millrace'] },
    },
    messages: { state: jsonMessage('application/json', 'HostState', 'A state') },
  },
} satisfies Record<string, Channel>;
