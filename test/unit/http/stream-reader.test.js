import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createReader } from '../../../api/http/stream/index.js';

/** @param {string} event @param {number} [bytes] of its data */
const frame = (event, bytes = 2) => Buffer.from(`event: ${event}\ndata: ${'x'.repeat(bytes)}\n\n`);

/** A reader that has not taken its first event yet. */
function createBusyReader() {
  const connection = new PassThrough({ highWaterMark: 1 });
  const reader = createReader(/** @type {any} */ (connection));
  reader.sendIfWritable(frame('snapshot'));
  return { connection, reader };
}

test('Stream reader: an event still waits: an alarm is sent after it, and an event of statistics is left out', async () => {
  const { connection, reader } = createBusyReader();
  reader.sendIfWritable(frame('stats'));
  reader.sendAlarm(frame('alarm'));
  reader.end();
  let text = '';
  for await (const part of connection) text += part;
  expect(text.match(/^event: .*/gm)).toEqual(['event: snapshot', 'event: alarm']);
});

test('Stream reader: alarms come faster than it receives them: its connection is closed', () => {
  const { connection, reader } = createBusyReader();
  for (let sent = 0; sent < 1000 && !connection.destroyed; sent++) reader.sendAlarm(frame('alarm', 16_384));
  expect(connection.destroyed).toBe(true);
});
