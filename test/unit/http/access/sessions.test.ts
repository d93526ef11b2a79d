import { expect, test } from '@jest/globals';
import { createSessions } from '../../../../api/access/http/sessions.ts';
import type { KnownToken } from '../../../../api/access/http/tokens.ts';

const NOW = 1_795_000_000_000;
const SESSION_MS = 3_600_000;
const ENDS_AT = NOW + SESSION_MS;

const READER: KnownToken = { token: 'reader', scopes: ['read'] };
const ADMIN: KnownToken = { token: 'admin', scopes: ['read', 'ingest', 'correct', 'admin'] };

const sessionsOf = ({
  secret = 'a secret',
  known = [READER, ADMIN],
  now = NOW,
}: {
  secret?: string;
  known?: KnownToken[];
  now?: number;
} = {}) => createSessions({ secret, known, sessionMs: SESSION_MS, clock: () => now });

const { value: VALUE } = sessionsOf().begin(READER);
const [, SIGNATURE = ''] = VALUE.split('.');

test('Session: sign-in with a token: the session has the scopes of the token and an end, its cookie does not contain the token', () => {
  for (const known of [READER, ADMIN]) {
    const { value, ...session } = sessionsOf().begin(known);
    expect(session).toEqual({ known, endsAt: ENDS_AT });
    expect(value).toMatch(new RegExp(`^${ENDS_AT}\\.[\\w-]{43}$`));
    expect(sessionsOf().open(value)).toEqual(session);
  }
});

test('Session: another process has further tokens in its settings: the session keeps the scopes of its own token', () => {
  const other: KnownToken = { token: 'other', scopes: ['ingest'] };
  for (const known of [
    [READER, other],
    [other, ADMIN, READER],
  ]) {
    expect(sessionsOf({ known }).open(VALUE)).toEqual({ known: READER, endsAt: ENDS_AT });
  }
});

test.each([
  ['the token of the session is no longer set', { known: [ADMIN] }],
  ['no token is set in the settings', { known: [] }],
  ['the token of the session has changed', { known: [{ ...READER, token: 'reader-2' }, ADMIN] }],
  ['the signing secret has changed', { secret: 'another secret' }],
  ['the session has just ended', { now: ENDS_AT }],
  ['the session ended long ago', { now: ENDS_AT + 1e9 }],
])('Session: %s: nobody is signed in', (_, other) => {
  expect(sessionsOf(other).open(VALUE)).toBeNull();
});

test('Session: one millisecond before the end: the session is valid', () => {
  expect(sessionsOf({ now: ENDS_AT - 1 }).open(VALUE)).not.toBeNull();
});

test.each([
  ['a later end', `${ENDS_AT + 1}.${SIGNATURE}`],
  ['an end with a leading zero', `0${ENDS_AT}.${SIGNATURE}`],
  ['an end in another notation', `${ENDS_AT / 1e12}e12.${SIGNATURE}`],
  ['a negative end', `-${ENDS_AT}.${SIGNATURE}`],
  ['no end', `.${SIGNATURE}`],
  ['no signature', `${ENDS_AT}.`],
  ['no dot', `${ENDS_AT}${SIGNATURE}`],
  ['a shorter signature', VALUE.slice(0, -1)],
  ['a longer signature', `${VALUE}A`],
  [
    'a signature of another end',
    `${ENDS_AT}.${
      sessionsOf({ now: NOW + 1 })
        .begin(READER)
        .value.split('.')[1]
    }`,
  ],
  ['a character before the end', `x${VALUE}`],
  ['a line break at the end', `${VALUE}\n`],
  ['a signature of zeros', `${ENDS_AT}.${'A'.repeat(43)}`],
  ['no characters', ''],
])('Session cookie: value with %s: nobody is signed in', (_, value) => {
  expect(value).not.toBe(VALUE);
  expect(sessionsOf().open(value)).toBeNull();
});

test('Session cookie: any bit of the signature is flipped: nobody is signed in', () => {
  const bytes = Buffer.from(SIGNATURE, 'base64url');
  for (let bit = 0; bit < 256; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(sessionsOf().open(`${ENDS_AT}.${changed.toString('base64url')}`)).toBeNull();
  }
});
