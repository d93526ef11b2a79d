import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ConnectionReader } from '../../../../../api/mqtt/embedded/reading/connection-reader.ts';
import { ReadScheduler } from '../../../../../api/mqtt/embedded/reading/read-scheduler.ts';
import { useCleanUps } from '../../../../support/clean-ups.ts';
import { listening } from '../../../../support/http/listening.ts';
import { until } from '../../../../support/until.ts';

const PINGREQ = Buffer.from([0xc0, 0]);
const MIB = 1024 * 1024;
/** Largest allowed packet in these tests, in bytes. */
const LIMIT = 300_000;

const afterwards = useCleanUps();

function publish(bytes: number) {
  const rest = bytes < 130 ? bytes - 2 : bytes < 16_387 ? bytes - 3 : bytes - 4;
  const length = [];
  for (let left = rest; ; left >>= 7) {
    if (left < 0x80) {
      length.push(left);
      break;
    }
    length.push((left & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([0x30, ...length]), Buffer.alloc(rest)]);
}

/**
 * Opens a connection. Its server side is read like aedes does: everything available, whenever it is readable.
 * @param options `isConnected`: the CONNECT is already answered (default true)
 */
async function open({ isConnected = true }: { isConnected?: boolean } = {}) {
  const state = { isConnected, isFull: false };
  let free: () => void = () => {};
  const scheduler = new ReadScheduler({
    get isFull() {
      return state.isFull;
    },
    onFree: (listener) => {
      free = listener;
    },
  });
  const server = createServer();
  const device = connect(await listening(server), '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  afterwards(async () => {
    device.destroy();
    socket.destroy();
    server.close();
  });
  const tooLarge: number[] = [];
  const asked: Array<number | undefined> = [];
  const readSocket = socket.read.bind(socket);
  socket.read = (size) => {
    asked.push(size);
    return readSocket(size);
  };
  const reader = new ConnectionReader(socket, {
    scheduler,
    packetLimit: () => LIMIT,
    onTooLarge: (bytes) => void tooLarge.push(bytes),
    isConnected: () => state.isConnected,
  });
  const slices: Buffer[] = [];
  const read = () => {
    for (let slice = socket.read(); slice; slice = socket.read()) slices.push(slice);
  };
  socket.on('readable', read);
  socket.on('error', () => {});
  const received = () => slices.reduce((sum, { length }) => sum + length, 0);
  return {
    state,
    device,
    socket,
    reader,
    scheduler,
    slices,
    tooLarge,
    /** Sizes of the read calls that reached the socket. */
    asked,
    read,
    received,
    /** @param more number of bytes to wait for */
    async send(bytes: Buffer, more: number = bytes.length) {
      const wanted = received() + more;
      device.write(bytes);
      await until(() => received() >= wanted, { what: `${wanted} bytes` });
    },
    /** Sends bytes that must not be read, and waits until they have arrived. */
    async sendUnread(bytes: Buffer) {
      const before = received();
      const had = socket.readableLength;
      device.write(bytes);
      await until(() => socket.readableLength > had, { what: 'bytes in the buffer of the socket' });
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      expect(received()).toBe(before);
    },
    /** Waits for the last read, which finds nothing. A slow event loop delays this read. */
    untilIdle: () => until(() => !reader.isBusy, { what: 'an idle connection' }),
    free: () => {
      state.isFull = false;
      free();
    },
  };
}

test('Connection reader: 300 packets in one write: read in slices of at most 128 packets, and none is lost', async () => {
  const connection = await open();
  const packets = 300;
  await connection.send(Buffer.concat(Array(packets).fill(PINGREQ)));
  expect(connection.slices.map(({ length }) => length / PINGREQ.length)).toEqual([128, 128, 44]);
  await connection.untilIdle();
});

test('Connection reader: CONNECT has no CONNACK yet: one packet is read, and the other packets after the CONNACK', async () => {
  const connection = await open({ isConnected: false });
  await connection.send(Buffer.concat([PINGREQ, PINGREQ, PINGREQ]), PINGREQ.length);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(connection.received()).toBe(PINGREQ.length);
  connection.state.isConnected = true;
  connection.read();
  await until(() => connection.received() === 3 * PINGREQ.length);
});

test.each([
  ['63 messages', Array(63).fill(10), 10],
  ['messages of 1 MiB less one byte', [MIB - 1], 1],
])('Connection reader: %s are uncommitted: the connection is still read', async (_, sizes) => {
  const connection = await open();
  for (const size of sizes) connection.reader.enter(size);
  await connection.send(PINGREQ);
  expect(connection.reader.isBusy).toBe(true);
});

test.each([
  ['64 messages', Array(64).fill(10), 10],
  ['messages of 1 MiB', [1, MIB - 1], 1],
])('Connection reader: %s are uncommitted: reading waits for one commit', async (_, sizes, size) => {
  const connection = await open();
  for (const each of sizes) connection.reader.enter(each);
  await connection.sendUnread(PINGREQ);
  connection.reader.leave(size);
  await until(() => connection.received() === PINGREQ.length);
  for (const each of sizes.slice(1)) connection.reader.leave(each);
  await connection.untilIdle();
});

test('Connection reader: the reader is stopped: no further byte is read, even after a message is committed', async () => {
  const connection = await open();
  connection.reader.enter(1);
  connection.reader.stop();
  await connection.sendUnread(PINGREQ);
  connection.reader.leave(1);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(connection.received()).toBe(0);
});

test('Connection reader: a packet exceeds the size limit: the length in its header is reported, and the connection closes', async () => {
  const connection = await open();
  connection.device.write(publish(LIMIT + 100));
  await once(connection.socket, 'close');
  expect(connection.tooLarge).toEqual([LIMIT + 96]);
});

test('Connection reader: the memory budget for messages is full: the connection is read once bytes are free', async () => {
  const connection = await open();
  connection.state.isFull = true;
  await connection.sendUnread(PINGREQ);
  expect(connection.scheduler.waiting).toBe(1);
  expect(connection.reader.isBusy).toBe(true);
  connection.free();
  await until(() => connection.received() === PINGREQ.length);
  expect(connection.scheduler.waiting).toBe(0);
  await connection.untilIdle();
});

test('Connection reader: the device disconnects while the memory budget is full: the end of the connection is noticed at once', async () => {
  const connection = await open();
  connection.state.isFull = true;
  connection.device.end();
  await once(connection.socket, 'end');
});

test('Connection reader: read(0) of Node.js: passed to the socket, but not while 1 MiB of messages is uncommitted', async () => {
  const connection = await open();
  connection.state.isFull = true;
  await connection.sendUnread(PINGREQ);
  connection.state.isFull = false;
  connection.asked.length = 0;
  expect(connection.socket.read(0)).toBeNull();
  expect(connection.asked).toEqual([0]);
  expect(connection.socket.readableLength).toBe(PINGREQ.length);
  connection.reader.enter(MIB);
  expect(connection.socket.read(0)).toBeNull();
  expect(connection.asked).toEqual([0]);
});
