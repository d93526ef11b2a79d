// cspell:ignore spbv

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CHANNELS } from '../../../../api/features/sparkplug/channels.ts';
import { EDGE_TOPICS } from '../../../../api/features/sparkplug/topics.ts';
import { isBarrier, queueKeyOf } from '../../../../api/ingest/admission/index.ts';
import { EDGE_FILTERS, parseSparkplugTopic } from '../../../../schema/sparkplug-topics.ts';
import { suggestTopic } from '../../../../schema/topic-suggestion.ts';
import { KINDS, topicContract } from '../../../../schema/topics.ts';

const edge = { node: 'plant/edge-1', command: 'spBv1.0/plant/NCMD/edge-1' };

test.each([
  ['spBv1.0/plant/NBIRTH/edge-1', { ...edge, type: 'NBIRTH', device: null }],
  ['spBv1.0/plant/NDATA/edge-1', { ...edge, type: 'NDATA', device: null }],
  ['spBv1.0/plant/NDEATH/edge-1', { ...edge, type: 'NDEATH', device: null }],
  ['spBv1.0/plant/DBIRTH/edge-1/press', { ...edge, type: 'DBIRTH', device: 'press' }],
  ['spBv1.0/plant/DDATA/edge-1/press', { ...edge, type: 'DDATA', device: 'press' }],
  ['spBv1.0/plant/DDEATH/edge-1/press', { ...edge, type: 'DDEATH', device: 'press' }],
  // A node has no device, and a device has a node (tck-id-topic-structure-namespace-device-id-associated-message-types).
  ['spBv1.0/plant/NDATA/edge-1/press', null],
  ['spBv1.0/plant/DDATA/edge-1', null],
  // The parser reads no messages of hosts, only those of edge nodes.
  ['spBv1.0/plant/NCMD/edge-1', null],
  ['spBv1.0/plant/DCMD/edge-1/press', null],
  ['spBv1.0/STATE/millrace-1', null],
  ['spBv1.0/plant/DDATA/edge-1/press/more', null],
  ['spBv1.0//NDATA/edge-1', null],
  ['spBv1.0/plant/NDATA/', null],
  ['spBv1.0/plant/DDATA/edge-1/', null],
  ['spBv1.0/plant/toString/edge-1', null],
  ['spBv1.0', null],
  ['spAv1.0/plant/NDATA/edge-1', null],
])('Sparkplug topic: %s: parsed if it is of an edge node, otherwise null', (topic, expected) => {
  expect(parseSparkplugTopic(topic)).toEqual(expected);
});

test('Sparkplug topics: all subscription filters: the parser accepts a topic of each filter', () => {
  const topics = EDGE_FILTERS.map((filter) => filter.replaceAll('+', 'x'));
  expect(topics.map((topic) => parseSparkplugTopic(topic)?.type)).toEqual([
    'NBIRTH',
    'NDATA',
    'NDEATH',
    'DBIRTH',
    'DDATA',
    'DDEATH',
  ]);
});

test('AsyncAPI: described topics of edge nodes: those that ingest subscribes to', () => {
  const topics = [CHANNELS.edgeNode, CHANNELS.edgeDevice].flatMap(({ address, parameters }) =>
    parameters.type.enum.map((type) => address.replace('{type}', type).replaceAll(/{\w+}/g, '+')),
  );
  expect(topics).toEqual(EDGE_FILTERS);
});

const CONTRACT = topicContract([EDGE_TOPICS]);

test.each([
  ['spbv1.0/plant/NDATA/edge-1', 'spBv1.0/plant/NDATA/edge-1'],
  ['plant/DDATA/edge-1/press', 'spBv1.0/plant/DDATA/edge-1/press'],
  ['spBv1.0/plant/NBIRTH/edge-1', null],
  ['spBv1.0/plant/NCMD/edge-1', null],
  ['iot/v1/my-desk/measurement', 'iot/v1/my-desk/measurements'],
])('Topic suggestion: %s: suggests %s', (topic, expected) =>
  expect(suggestTopic(topic, CONTRACT)).toBe(expected),
);

test('Topic suggestion: random topics next to those of edge nodes: each suggestion is a valid topic', () => {
  const level = fc.oneof(fc.constantFrom('iot', 'v1', 'spBv1.0', 'NDATA', ...KINDS, ''), fc.string());
  fc.assert(
    fc.property(fc.array(level, { maxLength: 12 }), (levels) => {
      const suggestion = suggestTopic(levels.join('/'), CONTRACT);
      if (suggestion !== null) expect(CONTRACT.parse(suggestion)).not.toBeNull();
    }),
  );
});

test.each([
  ['spBv1.0/plant/NBIRTH/edge-1', true],
  ['spBv1.0/plant/DBIRTH/edge-1/press', true],
  ['spBv1.0/plant/NDEATH/edge-1', true],
  ['spBv1.0/plant/DDEATH/edge-1/press', true],
  ['spBv1.0/plant/NDATA/edge-1', false],
  ['spBv1.0/plant/DDATA/edge-1/press', false],
])('Queue of an edge node: message on %s: the key is the node, later messages wait: %s', (topic, barrier) => {
  const parsed = CONTRACT.parse(topic);
  if (!parsed) throw new Error('no topic of an edge node');
  const identity = { id: 'of the device', bytes: Buffer.alloc(16), name: null };
  expect([queueKeyOf(parsed, identity), isBarrier(parsed)]).toEqual(['plant/edge-1', barrier]);
});
