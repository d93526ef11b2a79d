import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { createAnswers } from '../../../api/http/server.js';

const STALL_MS = 120_000;
const PIECE = 2 * 1024 * 1024;

/** An answer that is under way. @param {number} waiting bytes that wait for the client */
function begin(waiting) {
  let now = 0;
  const socket = { writableLength: waiting, bytesWritten: waiting, isClosed: false, destroy() {} };
  socket.destroy = () => {
    socket.isClosed = true;
  };
  /** @type {string[]} */
  const entered = [];
  const answers = createAnswers({
    pending: /** @type {any} */ ({ pass() {}, enter: () => entered.push('pending') }),
    stallMs: STALL_MS,
    elapsed: () => now,
  });
  const res = Object.assign(new EventEmitter(), { req: { socket }, writableEnded: false });
  answers.begin(/** @type {any} */ (res));
  return {
    res,
    socket,
    entered,
    /** @param {number} time ms since it began */
    isClosedAt(time) {
      now = time;
      answers.look();
      return socket.isClosed;
    },
  };
}

test.each([
  [1, STALL_MS],
  [PIECE, 2 * STALL_MS],
  [3 * PIECE, 4 * STALL_MS],
])('Answer: nothing of it is taken, %i bytes wait: given up after %i ms', (waiting, stallMs) => {
  const { isClosedAt } = begin(waiting);
  // The first look finds what waits.
  expect(isClosedAt(0)).toBe(false);
  const most = Math.floor(STALL_MS * (1 + waiting / PIECE));
  expect(Math.abs(most - stallMs)).toBeLessThan(1);
  expect(isClosedAt(most)).toBe(false);
  expect(isClosedAt(most + 1)).toBe(true);
});

test('Answer: a part of it is taken: it has the whole time again', () => {
  const { isClosedAt, socket } = begin(PIECE);
  isClosedAt(0);
  expect(isClosedAt(2 * STALL_MS)).toBe(false);
  socket.writableLength = PIECE - 1;
  expect(isClosedAt(2 * STALL_MS + 1)).toBe(false);
  expect(isClosedAt(4 * STALL_MS)).toBe(false);
  expect(isClosedAt(4 * STALL_MS + 1)).toBe(true);
});

test('Answer: nothing waits, as in a stream without news: kept', () => {
  const { isClosedAt, entered } = begin(0);
  expect(isClosedAt(100 * STALL_MS)).toBe(false);
  expect(entered).toEqual([]);
});

test('Answer: written whole: its connection is pending again, and so it is when the answer closes', () => {
  const { isClosedAt, res, entered } = begin(1);
  res.writableEnded = true;
  isClosedAt(1);
  expect(entered).toEqual(['pending']);
  res.emit('close');
  expect(entered).toEqual(['pending', 'pending']);
  expect(isClosedAt(100 * STALL_MS)).toBe(false);
});
