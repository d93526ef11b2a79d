import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Message, Outcome } from '../../api/ingest/pipeline.ts';
import type { ErrorCode, Refusal } from '../../common/errors.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { bytesOf, connectPacket, connectRaw, openRaw } from '../support/mqtt/raw-client.ts';
import { startBrokerAlone } from '../support/mqtt-broker.ts';
import { until } from '../support/until.ts';

/**
 * The clauses of the MQTT 5.0 specification (OASIS standard, 7 March 2019) that concern a broker without sessions, by their numbers. The
 * broker runs without ingest. Each test decides how messages settle.
 */

const MAX_MESSAGE_BYTES = 4096;
const STATUS = 'iot/v1/d/status';
const MEASUREMENTS = 'iot/v1/d/measurements';

const afterwards = useCleanUps();

let port: number;
let settle: (message: Message) => Promise<Outcome>;
let stopBroker: () => Promise<void>;

beforeEach(async () => {
  settle = async () => 'accepted';
  const { broker } = await startBrokerAlone(() => {}, {
    maxMessageBytes: MAX_MESSAGE_BYTES,
    handleMessage: (message) => settle(message),
  });
  let isStopped = false;
  stopBroker = async () => {
    if (!isStopped) await broker.stop();
    isStopped = true;
  };
  afterwards(stopBroker);
  port = broker.port;
});

const open = () => openRaw(port, afterwards);

const connect = (options?: Parameters<typeof connectPacket>[0]) => connectRaw(port, afterwards, options);

const publish = (more?: object) => ({
  cmd: 'publish',
  topic: STATUS,
  payload: 'online',
  qos: 1,
  messageId: 1,
  ...more,
});

const subscribe = (subscriptions: object[], properties?: object) => ({
  cmd: 'subscribe',
  messageId: 9,
  subscriptions,
  properties,
});

async function subscriber(topic: string, options?: object) {
  const client = await connect();
  client.send(subscribe([{ topic, qos: 0, nl: false, rap: false, rh: 0, ...options }]));
  await client.take('suback');
  return client;
}

const refusal = (code: ErrorCode): Refusal => ({
  index: 0,
  code,
  path: '[0].value',
  rule: 'must be a number',
});

function refuseWith(outcome: Outcome, ...codes: ErrorCode[]) {
  settle = async ({ onRefused }) => {
    if (codes.length > 0) onRefused?.(codes.map(refusal));
    return outcome;
  };
}

/** @returns the packet with other bytes, since mqtt-packet refuses to write what a clause forbids */
function changed(packet: object, from: number[], to: number[]): Buffer {
  const bytes = bytesOf(packet);
  Buffer.from(to).copy(bytes, bytes.indexOf(Buffer.from(from)));
  return bytes;
}

/** `hex`: the bytes after the fixed header */
const packet = (type: number, hex: string): Buffer =>
  Buffer.concat([Buffer.from([type, hex.length / 2]), Buffer.from(hex, 'hex')]);

const withProperty = (name: string, value: unknown = 7) => ({ properties: { [name]: value } });

describe('Packets that end the connection', () => {
  const NO_CONNECT = bytesOf({ cmd: 'pingreq' });
  const RESERVED_FLAG = changed(connectPacket(), [5, 2], [5, 3]);
  const NO_MESSAGES = changed(connectPacket(withProperty('receiveMaximum')), [0x21, 0, 7], [0x21, 0, 0]);
  const NO_BYTES = changed(
    connectPacket(withProperty('maximumPacketSize')),
    [0x27, 0, 0, 0, 7],
    [0x27, 0, 0, 0, 0],
  );
  const SCRAM = bytesOf(connectPacket(withProperty('authenticationMethod', 'SCRAM-SHA-1')));
  const TWO_MAXIMA = packet(0x10, '00044d5154540502000006210007210008000161');

  test.each([
    ['MQTT-3.1.0-1: no CONNECT', NO_CONNECT, null],
    ['MQTT-3.1.2-3: a reserved flag', RESERVED_FLAG, null],
    ['MQTT 5, 3.1.2.11.3: Receive Maximum 0', NO_MESSAGES, 0x82],
    ['MQTT 5, 3.1.2.11.4: Maximum Packet Size 0', NO_BYTES, 0x82],
    ['MQTT-4.12.0-1: an authentication method', SCRAM, 0x8c],
    ['MQTT 5, 2.2.2.2: a property twice', TWO_MAXIMA, null],
  ])(
    'First packet: %s: the connection is closed, with the expected CONNACK',
    async (_, bytes, reasonCode) => {
      const client = await open();
      client.sendBytes(bytes);
      if (reasonCode !== null) expect(await client.take('connack')).toMatchObject({ reasonCode });
      await client.untilClosed();
      expect(client.received).toEqual([]);
    },
  );

  const alias = (bytes: number[]) =>
    changed(publish(withProperty('topicAlias')), [0x23, 0, 7], [0x23, ...bytes]);
  const filter = (topic: string) => bytesOf(subscribe([{ topic, qos: 0 }]));
  const NO_ID = changed(
    subscribe([{ topic: STATUS, qos: 0 }], { subscriptionIdentifier: 7 }),
    [0x0b, 7],
    [0x0b, 0],
  );

  test.each([
    ['MQTT-3.1.0-2: a second CONNECT', bytesOf(connectPacket()), null],
    ['MQTT 5, 2.2.2.2: a property twice', packet(0x32, '00017400010623000123000278'), 0x82],
    ['MQTT-3.3.1-4: QoS 3', changed(publish(), [0x32], [0x36]), null],
    ['MQTT-3.3.2-2: topic with +', bytesOf(publish({ topic: 'iot/v1/+/status' })), null],
    ['MQTT-3.3.2-2: topic with #', bytesOf(publish({ topic: 'iot/#' })), null],
    ['MQTT-3.3.2-8: topic alias 0', alias([0, 0]), 0x94],
    ['MQTT-3.3.2-9: topic alias 1 without a Topic Alias Maximum', alias([0, 1]), 0x94],
    ['MQTT-3.3.2-9: topic alias 65,535 without a Topic Alias Maximum', alias([0xff, 0xff]), 0x94],
    [
      'MQTT-3.3.4-6: subscription identifier of a client',
      bytesOf(publish(withProperty('subscriptionIdentifier', 1))),
      0x82,
    ],
    ['MQTT-4.7.1-1: filter a/#/b', filter('a/#/b'), null],
    ['MQTT-4.7.1-2: filter a+', filter('a+'), null],
    ['MQTT-4.7.3-1: empty filter', filter(''), null],
    ['MQTT 5, 3.8.2.1.2: subscription identifier 0', NO_ID, 0x82],
    [
      'MQTT 5, 3.2.2.3.6: more than the Maximum Packet Size in CONNACK',
      Buffer.from('30ffffff7f', 'hex'),
      0x95,
    ],
  ])(
    'Later packet: %s: the connection is closed, with the expected DISCONNECT',
    async (_, bytes, reasonCode) => {
      const client = await connect();
      client.sendBytes(bytes);
      if (reasonCode !== null) expect(await client.take('disconnect')).toMatchObject({ reasonCode });
      await client.untilClosed();
    },
  );
});

test('MQTT-3.2.2-2, MQTT-3.2.2-3: client asks for a stored session: CONNACK has no session, and a Session Expiry Interval of 0', async () => {
  for (const clean of [true, false, false]) {
    const { connack, send, untilClosed } = await connect({
      clean,
      clientId: 'again',
      properties: { sessionExpiryInterval: 100 },
    });
    expect(connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
    expect(connack.properties?.sessionExpiryInterval).toBe(0);
    send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 100 } });
    await untilClosed();
  }
});

test('MQTT 5, 3.2.2.3: client connects: CONNACK has Receive Maximum, Maximum Packet Size and no shared subscriptions', async () => {
  const { connack } = await connect({ clientId: 'a' });
  expect(connack.properties).toEqual({
    receiveMaximum: 64,
    maximumPacketSize: MAX_MESSAGE_BYTES + 66_000 + 5,
    sharedSubscriptionAvailable: false,
  });
});

test('MQTT-3.1.4-3: the client id is in use: the older connection gets DISCONNECT 0x8E and is closed', async () => {
  const older = await connect({ clientId: 'same' });
  const newer = await connect({ clientId: 'same' });
  expect((await older.take('disconnect')).reasonCode).toBe(0x8e);
  await older.untilClosed();
  await newer.settle();
});

test('MQTT-3.3.2-6: retained message with an expiry interval: a later subscriber gets it with the remaining seconds', async () => {
  const device = await connect();
  device.send(publish({ retain: true, properties: { messageExpiryInterval: 1000 } }));
  await device.take('puback');
  const reader = await subscriber(STATUS);
  const { retain, properties } = await reader.take('publish');
  expect(retain).toBe(true);
  expect(properties?.messageExpiryInterval).toBeGreaterThan(0);
  expect(properties?.messageExpiryInterval).toBeLessThanOrEqual(1000);
});

test.each([1, 2])(
  'MQTT-3.3.4-9: more unacknowledged messages of QoS %d than the Receive Maximum: DISCONNECT 0x93',
  async (qos) => {
    const begun: string[] = [];
    settle = ({ topic }) => {
      begun.push(topic);
      return new Promise(() => {});
    };
    const client = await connect();
    const messages = Array.from({ length: 65 }, (_, index) => publish({ qos, messageId: index + 1 }));
    client.send(...messages);
    expect((await client.take('disconnect')).reasonCode).toBe(0x93);
    await client.untilClosed();
    expect(begun).toHaveLength(64);
  },
);

test('MQTT-3.3.4-9: QoS 2 messages wait for their PUBREL: they count toward the Receive Maximum', async () => {
  const client = await connect();
  const messages = Array.from({ length: 64 }, (_, index) => publish({ qos: 2, messageId: index + 1 }));
  client.send(...messages);
  await until(() => client.received.filter(({ cmd }) => cmd === 'pubrec').length === 64);
  client.send({ cmd: 'pubrel', messageId: 1 });
  await client.take('pubcomp');
  client.send(publish({ messageId: 100 }));
  await client.take('puback');
  client.send(publish({ qos: 2, messageId: 101 }), publish({ messageId: 102 }));
  expect((await client.take('disconnect')).reasonCode).toBe(0x93);
});

test('MQTT-4.6.0-2: messages settle in reverse order: the PUBACKs keep the order of receipt, also with reasons', async () => {
  const waiting: Array<() => void> = [];
  settle = ({ onRefused }) =>
    new Promise((resolve) =>
      waiting.push(() => {
        onRefused?.([refusal('malformed')]);
        resolve('refused');
      }),
    );
  const client = await connect();
  client.send(...[1, 2, 3].map((messageId) => publish({ messageId })));
  await until(() => waiting.length === 3);
  for (const settleNext of waiting.reverse()) settleNext();
  await until(() => client.received.length === 3);
  expect(client.received.map(({ messageId }) => messageId)).toEqual([1, 2, 3]);
});

test('MQTT-4.3.3: QoS 2 message with a repeated PUBLISH and PUBREL: delivered once, and each PUBREL gets PUBCOMP', async () => {
  const reader = await subscriber(STATUS);
  const client = await connect();
  client.send(publish({ qos: 2 }));
  expect(await client.take('pubrec')).toMatchObject({ messageId: 1 });
  client.send(publish({ qos: 2, dup: true }));
  await client.take('pubrec');
  client.send({ cmd: 'pubrel', messageId: 1 });
  expect(await client.take('pubcomp')).toMatchObject({ messageId: 1 });
  client.send({ cmd: 'pubrel', messageId: 1 });
  await client.take('pubcomp');
  await reader.settle();
  expect(reader.received.filter(({ cmd }) => cmd === 'publish')).toHaveLength(1);
});

const REASONS: Array<[ErrorCode, number]> = [
  ['malformed', 0x99],
  ['not_numeric', 0x99],
  ['too_old', 0x99],
  ['too_large', 0x97],
  ['registration_limit', 0x97],
  ['unknown_device', 0x87],
  ['unknown_sensor', 0x87],
  ['rejected', 0x83],
];
test.each(REASONS)(
  'MQTT 5, 3.4.2.1: message is refused as %s: PUBACK %d with the code and the rule, and no subscriber receives it',
  async (code, reasonCode) => {
    refuseWith('refused', code, code);
    const reader = await subscriber('#');
    const client = await connect();
    client.send(publish(), publish({ qos: 2, messageId: 2, retain: true }));
    const reasonString = `${code}: [0].value: must be a number (and 1 more)`;
    const expected = { reasonCode, properties: { reasonString } };
    expect(await client.take('puback')).toMatchObject({ messageId: 1, ...expected });
    expect(await client.take('pubrec')).toMatchObject({ messageId: 2, ...expected });
    await reader.settle();
    expect(reader.received).toEqual([]);
  },
);

test('MQTT 5, 4.3.3: QoS 2 message is refused: its packet id may be used again at once', async () => {
  refuseWith('refused', 'malformed');
  const client = await connect();
  for (let count = 0; count < 70; count++) {
    client.send(publish({ qos: 2 }));
    expect((await client.take('pubrec')).reasonCode).toBe(0x99);
  }
});

test('MQTT 5, 3.4.2.2.2: some measurements are refused: PUBACK has success and a reason, and subscribers receive the message', async () => {
  refuseWith('accepted', 'not_numeric');
  const reader = await subscriber(STATUS, { qos: 1 });
  const client = await connect();
  client.send(publish());
  const { reasonCode, properties } = await client.take('puback');
  expect({ reasonCode, ...properties }).toEqual({
    reasonCode: 0,
    reasonString: 'not_numeric: [0].value: must be a number',
  });
  expect(await reader.take('publish')).toMatchObject({ qos: 1, payload: Buffer.from('online') });
  client.send(publish({ qos: 2 }));
  expect(await client.take('pubrec')).toMatchObject({ reasonCode: 0 });
  await reader.take('publish');
});

test('MQTT 5, 3.4.2.1: message on an unknown topic: PUBACK 0x90 suggests the topic that was probably meant', async () => {
  refuseWith('unknown_topic');
  const client = await connect();
  client.send(publish({ topic: 'iot/v1/desk/measurement' }), publish({ topic: 'x', messageId: 2 }));
  expect(await client.take('puback')).toMatchObject({
    reasonCode: 0x90,
    properties: { reasonString: 'unknown_topic: did you mean iot/v1/desk/measurements?' },
  });
  expect((await client.take('puback')).properties?.reasonString).toBe('unknown_topic: no topic of Millrace');
});

test('MQTT-1.5.4-2: message is refused for a name with control characters: the reason string has question marks instead', async () => {
  settle = async ({ onRefused }) => {
    onRefused?.([{ ...refusal('bad_id'), path: 'a\u0000\nb' }]);
    return 'refused';
  };
  const client = await connect();
  client.send(publish());
  const { properties } = await client.take('puback');
  expect(properties?.reasonString).toBe('bad_id: a??b: must be a number');
});

test('MQTT-3.1.2-29: client requests no problem information: PUBACK of a refused message has the code only', async () => {
  refuseWith('refused', 'malformed');
  const client = await connect({ properties: { requestProblemInformation: false } });
  client.send(publish());
  const answer = await client.take('puback');
  expect({ code: answer.reasonCode, properties: answer.properties }).toEqual({ code: 0x99 });
});

test('MQTT-3.4.2-2: reason string would exceed the Maximum Packet Size of the client: PUBACK has the code only', async () => {
  refuseWith('refused', 'malformed');
  const client = await connect({ properties: { maximumPacketSize: 40 } });
  client.send(publish());
  const answer = await client.take('puback');
  expect({ code: answer.reasonCode, properties: answer.properties }).toEqual({ code: 0x99 });
});

test('MQTT 3.1.1 client: message is refused: the broker answers with a plain PUBACK', async () => {
  refuseWith('refused', 'malformed');
  const client = await open();
  client.sendBytes(Buffer.from('101000044d5154540402000000046f6c6431', 'hex').subarray(0, 18));
  await until(() => client.socket.bytesRead === 4);
  client.sendBytes(Buffer.from('32090003742f780007787878', 'hex').subarray(0, 11));
  await until(() => client.socket.bytesRead === 8);
});

test('MQTT-3.8.4-6, MQTT-3.9.3-1: several topic filters: SUBACK and UNSUBACK have a code for each filter, in order', async () => {
  const client = await connect();
  const topics = ['iot/v1/a/status', '$SYS/#', '$share/g/iot/v1/+/status', '__proto__', 'iot/#'];
  client.send(subscribe(topics.map((topic, index) => ({ topic, qos: index % 3 }))));
  expect((await client.take('suback')).granted).toEqual([0, 0x87, 0x9e, 0x87, 1]);
  client.send({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['iot/#', 'constructor', 'other'] });
  expect((await client.take('unsuback')).granted).toEqual([0, 0x11, 0x11]);
});

test('MQTT-3.3.4-9: client sets a Receive Maximum: the broker grants QoS 0, to which no maximum applies', async () => {
  const client = await connect({ properties: { receiveMaximum: 1 } });
  client.send(subscribe([{ topic: STATUS, qos: 2 }]));
  expect((await client.take('suback')).granted).toEqual([0]);
  const device = await connect();
  for (const messageId of [1, 2, 3]) device.send(publish({ messageId }));
  for (const _ of [1, 2, 3]) expect((await client.take('publish')).qos).toBe(0);
});

test('MQTT-3.8.4-8, MQTT-3.3.4-9: subscription with a wildcard: retained messages have at most the granted QoS', async () => {
  const topics = ['iot/v1/d/status', 'iot/v1/e/status'];
  const device = await connect();
  for (const topic of topics) {
    device.send(publish({ topic, retain: true }));
    await device.take('puback');
  }
  const limited = await connect({ properties: { receiveMaximum: 1 } });
  limited.send(subscribe([{ topic: 'iot/v1/+/status', qos: 1 }]));
  for (const topic of topics) expect(await limited.take('publish')).toMatchObject({ topic, qos: 0 });
  const unlimited = await subscriber('iot/v1/+/status', { qos: 1 });
  for (const topic of topics) expect(await unlimited.take('publish')).toMatchObject({ topic, qos: 1 });
});

test('MQTT-3.1.2-24, MQTT-3.1.2-25: message is larger than the Maximum Packet Size of the client: it is not sent', async () => {
  const client = await connect({ properties: { maximumPacketSize: 60 } });
  client.send(subscribe([{ topic: STATUS, qos: 0 }]));
  await client.take('suback');
  const device = await connect();
  device.send(publish({ payload: 'x'.repeat(60) }), publish({ messageId: 2, payload: 'short' }));
  expect((await client.take('publish')).payload.toString()).toBe('short');
  await client.settle();
  expect(client.received).toEqual([]);
});

test.each([
  ['true', false, true],
  ['false', false, false],
  ['TRUE', false, 'unclear'],
  [['true', 'true'], false, 'unclear'],
  ['true', true, false],
])(
  'User property replace is %j: last will is %s: the message replaces stored values: %s',
  async (replace, isWill, replaces) => {
    const received: Array<boolean | string | undefined> = [];
    settle = async (message) => {
      received.push(message.replaces);
      return 'accepted';
    };
    const properties = { userProperties: { replace } };
    const payload = Buffer.from('21');
    const device = await connect(
      isWill ? { will: { topic: MEASUREMENTS, payload, qos: 1, retain: false, properties } } : {},
    );
    if (isWill) device.socket.destroy();
    else device.send(publish({ topic: MEASUREMENTS, payload, properties }));
    await until(() => received.length > 0);
    expect(received).toEqual([replaces]);
  },
);

describe('Last will and DISCONNECT', () => {
  const will = {
    topic: STATUS,
    payload: Buffer.from('offline'),
    qos: 1 as const,
    retain: false,
    properties: { willDelayInterval: 3600, contentType: 'text/plain', userProperties: { a: 'b' } },
  };

  test('MQTT-3.1.2-8, 3.1.3.2.2: connection breaks: the last will is sent at once, because the session ends', async () => {
    const reader = await subscriber(STATUS);
    const device = await connect({ will, properties: { sessionExpiryInterval: 7200 } });
    device.socket.destroy();
    const message = await reader.take('publish');
    expect(message.payload.toString()).toBe('offline');
    expect({ ...message.properties, userProperties: { ...message.properties?.userProperties } }).toEqual({
      contentType: 'text/plain',
      userProperties: { a: 'b' },
    });
  });

  test.each([
    [0x00, 0],
    [0x04, 1],
  ])('MQTT-3.14.4-3: DISCONNECT with reason %d: %d last wills are sent', async (reasonCode, wills) => {
    const reader = await subscriber(STATUS);
    const device = await connect({ will });
    device.send({ cmd: 'disconnect', reasonCode });
    await device.untilClosed();
    await until(() => reader.received.length >= wills);
    await reader.settle();
    expect(reader.received).toHaveLength(wills);
  });

  test('MQTT 5, 3.14.2.1: the broker stops: clients get DISCONNECT 0x8B', async () => {
    const client = await connect();
    await stopBroker();
    expect((await client.take('disconnect')).reasonCode).toBe(0x8b);
    await client.untilClosed();
  });
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'MQTT 5 broker: client id and topic filter are "%s": the broker continues to serve clients',
  async (name) => {
    for (let count = 0; count < 2; count++) {
      const client = await connect({ clientId: name });
      client.send(subscribe([name, `${name}/a`, 'b'].map((topic) => ({ topic, qos: 0 }))));
      expect((await client.take('suback')).granted).toHaveLength(3);
      client.send({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: [name] });
      await client.take('unsuback');
    }
    await (await connect()).settle();
  },
);

test('MQTT 5 broker: packets with random changes: each connection is served or closed, and other connections stay open', async () => {
  const seeds = [
    publish({
      properties: {
        contentType: 'a',
        userProperties: { x: ['1', '2'] },
        correlationData: Buffer.from('c'),
      },
    }),
    subscribe([{ topic: 'a/b', qos: 1, nl: true, rap: true, rh: 1 }], { subscriptionIdentifier: 5 }),
    { cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['a/b'] },
    { cmd: 'puback', messageId: 4, reasonCode: 16, properties: { reasonString: 'x' } },
    { cmd: 'pubrec', messageId: 4, reasonCode: 0x99 },
    { cmd: 'pubrel', messageId: 4, reasonCode: 0, properties: { reasonString: 'x' } },
    { cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 3 } },
    { cmd: 'auth', reasonCode: 24, properties: { authenticationMethod: 'x' } },
    connectPacket({
      clientId: 'b',
      will: {
        topic: 't',
        payload: Buffer.from('x'),
        qos: 1,
        retain: true,
        properties: { willDelayInterval: 3 },
      },
    }),
  ].map(bytesOf);
  // This client subscribes to every topic, and must stay connected.
  const witness = await connect({ properties: { maximumPacketSize: 1000 } });
  witness.send(subscribe([{ topic: '#', qos: 1 }]));
  let state = 42;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 4; round++) {
    const clients = await Promise.all(Array.from({ length: 150 }, () => open()));
    for (const client of clients) {
      const bytes = Buffer.from(seeds[random(seeds.length)] as Buffer);
      for (let count = 0; count <= random(4); count++) bytes[random(bytes.length)] = random(256);
      const first = random(4) === 0 ? [] : [bytesOf(connectPacket())];
      client.sendBytes(Buffer.concat([...first, bytes]));
      client.socket.end();
    }
    await until(() => clients.every(({ socket }) => socket.closed));
  }
  await witness.settle();
});
