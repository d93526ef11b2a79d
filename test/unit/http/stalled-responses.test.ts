import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { createStalledResponses } from '../../../api/http/server.ts';

const STALL_MS = 120_000;
const PIECE = 2 * 1024 * 1024;

/** Starts a response. @param waiting bytes that wait for the client */
function begin(waiting: number) {
  let now = 0;
  const socket = { writableLength: waiting, bytesWritten: waiting, isClosed: false, destroy() {} };
  socket.destroy = () => {
    socket.isClosed = true;
  };
  const entered: string[] = [];
  const responses = createStalledResponses({
    pending: { pass() {}, enter: () => entered.push('pending') } as never,
    stallMs: STALL_MS,
    elapsed: () => now,
  });
  const res = Object.assign(new EventEmitter(), { req: { socket }, writableEnded: false });
  responses.begin(res as never);
  return {
    res,
    socket,
    entered,
    /** @param time ms since it began */
    isClosedAt(time: number) {
      now = time;
      responses.check();
      return socket.isClosed;
    },
  };
}

test.each([
  [1, STALL_MS],
  [PIECE, 2 * STALL_MS],
  [3 * PIECE, 4 * STALL_MS],
])('Stalled response: client reads nothing, %i bytes unsent: closed after %i ms', (waiting, stallMs) => {
  const { isClosedAt } = begin(waiting);
  // The first check notes the progress.
  expect(isClosedAt(0)).toBe(false);
  const limit = Math.floor(STALL_MS * (1 + waiting / PIECE));
  expect(Math.abs(limit - stallMs)).toBeLessThan(1);
  expect(isClosedAt(limit)).toBe(false);
  expect(isClosedAt(limit + 1)).toBe(true);
});

test('Stalled response: no unsent bytes, as in a quiet stream: the connection stays open', () => {
  const { isClosedAt, entered } = begin(0);
  expect(isClosedAt(100 * STALL_MS)).toBe(false);
  expect(entered).toEqual([]);
});

test('Stalled response: the response ends or closes: its connection counts as one without a request again', () => {
  const { isClosedAt, res, entered } = begin(1);
  res.writableEnded = true;
  isClosedAt(1);
  expect(entered).toEqual(['pending']);
  res.emit('close');
  expect(entered).toEqual(['pending', 'pending']);
  expect(isClosedAt(100 * STALL_MS)).toBe(false);
});
