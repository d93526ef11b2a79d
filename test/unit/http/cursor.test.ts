import { expect, test } from '@jest/globals';
import { createCursors } from '../../../api/http/cursor.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-22T00:00:00.000Z');
const SCOPE = JSON.stringify(['measurements', 'device-1', 'sensor-1', 'desc', 0, null]);
const PLACE = { ts: 1_763_769_600_000, key: '0f0e' };

const cursorsOf = ({ secret = 'a secret', now = NOW }: { secret?: string; now?: number } = {}) =>
  createCursors({ secret, clock: () => now });

const CURSORS = cursorsOf();
const CURSOR = CURSORS.seal(SCOPE, PLACE);

function refusalOf(
  cursor: string,
  { scope = SCOPE, cursors = CURSORS }: { scope?: string; cursors?: ReturnType<typeof cursorsOf> } = {},
): Error & { code?: string } {
  try {
    cursors.open(scope, cursor);
  } catch (error) {
    return error as Error;
  }
  throw new Error('the cursor was opened');
}

test('Paging cursor: sent back to its own listing: the position in the listing is returned unchanged', () => {
  expect(CURSORS.open(SCOPE, CURSOR)).toEqual(PLACE);
  for (const place of [null, 0, '', 'ünïcode \u0000', [1, [2]], { group: 3, key: 'a/b' }]) {
    expect(CURSORS.open(SCOPE, CURSORS.seal(SCOPE, place))).toEqual(place);
  }
});

test('Paging cursor: the process has another secret: the cursor is refused', () => {
  expect(refusalOf(CURSOR, { cursors: cursorsOf({ secret: 'another secret' }) }).code).toBe('bad_cursor');
});

test.each([
  ['another route', ['latest', 'device-1', 'sensor-1', 'desc', 0, null]],
  ['another device', ['measurements', 'device-2', 'sensor-1', 'desc', 0, null]],
  ['another sensor', ['measurements', 'device-1', 'sensor-2', 'desc', 0, null]],
  ['another order', ['measurements', 'device-1', 'sensor-1', 'asc', 0, null]],
  ['another range', ['measurements', 'device-1', 'sensor-1', 'desc', 1, null]],
  ['no parameters', []],
])('Paging cursor: used for a listing with %s: refused', (_, scope) => {
  expect(refusalOf(CURSOR, { scope: JSON.stringify(scope) }).message).toMatch(
    /^The cursor belongs to another request, or was changed: start again without a cursor/,
  );
});

test('Paging cursor: any bit is flipped: the cursor is refused', () => {
  const bytes = Buffer.from(CURSOR, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(refusalOf(changed.toString('base64url')).code).toBe('bad_cursor');
  }
});

test.each([
  ['with padding', `${CURSOR}=`],
  ['with characters that base64url skips', `${CURSOR.slice(0, 8)}\n${CURSOR.slice(8)}`],
  ['as base64', Buffer.from(CURSOR, 'base64url').toString('base64')],
  ['with appended characters', `${CURSOR}AAAA`],
  ['twice', CURSOR + CURSOR],
  ['replaced by JSON', '{"group":0}'],
  ['replaced by nothing', ''],
])('Paging cursor: text of a valid cursor %s: refused', (_, cursor) => {
  // A base64 cursor without special characters would be the same text.
  if (cursor === CURSOR) throw new Error('the same cursor');
  expect(refusalOf(cursor).code).toBe('bad_cursor');
});

test('Paging cursor: unused bits of the last base64 character are changed: the cursor is refused', () => {
  // The last character has six bits. The last byte leaves two or four of them unused.
  const place = ['x', 'xy', 'xyz'].find(
    (text) => Buffer.from(CURSORS.seal(SCOPE, text), 'base64url').length % 3,
  );
  const cursor = CURSORS.seal(SCOPE, place);
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = cursor.slice(0, -1) + last[last.indexOf(String(cursor.at(-1))) + 1];
  expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(cursor, 'base64url'));
  expect(refusalOf(other).code).toBe('bad_cursor');
});

test('Paging cursor: longer than 2,048 characters, with a valid signature: the cursor is refused', () => {
  const long = CURSORS.seal(SCOPE, 'x'.repeat(2000));
  expect(long.length).toBeGreaterThan(2048);
  expect(refusalOf(long).code).toBe('bad_cursor');
});

test.each([
  [0, true],
  [DAY_MS - 1, true],
  [DAY_MS, true],
  [DAY_MS + 1, false],
  [30 * DAY_MS, false],
])('Paging cursor: %i ms after its creation: accepted: %p', (age, isValid) => {
  const later = cursorsOf({ now: NOW + age });
  if (isValid) expect(later.open(SCOPE, CURSOR)).toEqual(PLACE);
  else expect(refusalOf(CURSOR, { cursors: later }).message).toMatch(/^The cursor has expired: start again/);
});
