import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createReader } from '../../../api/http/stream/index.ts';

/** @param bytes size of the data */
const frame = (event: string, bytes: number = 2) =>
  Buffer.from(`event: ${event}\ndata: ${'x'.repeat(bytes)}\n\n`);

/** Creates a reader whose client has not read the first event yet. */
function createBusyReader() {
  const connection = new PassThrough({ highWaterMark: 1 });
  const reader = createReader(connection as never);
  reader.sendIfWritable(frame('snapshot'));
  return { connection, reader };
}

test('Client of the live stream: its first event is unread: an event of a feature is queued behind it, statistics are dropped', async () => {
  const { connection, reader } = createBusyReader();
  reader.sendIfWritable(frame('stats'));
  reader.sendOrDisconnect(frame('note'));
  reader.end();
  let text = '';
  for await (const part of connection) text += part;
  expect(text.match(/^event: .*/gm)).toEqual(['event: snapshot', 'event: note']);
});

test('Client of the live stream: events of a feature arrive faster than the client reads: its connection is closed', () => {
  const { connection, reader } = createBusyReader();
  for (let sent = 0; sent < 1000 && !connection.destroyed; sent++)
    reader.sendOrDisconnect(frame('note', 16_384));
  expect(connection.destroyed).toBe(true);
});
