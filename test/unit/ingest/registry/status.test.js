import { expect, test } from '@jest/globals';
import { readStatus } from '../../../../api/ingest/registry/status.js';

const NOW = Date.UTC(2026, 10, 22);

/** No session is named. */
const NONE = { id: null, start: NOW, offset: null };

test.each([
  ['online', { state: 'online', session: NONE }],
  [' offline\n', { state: 'offline', session: NONE }],
  [
    `{"state":"offline","session":${NOW - 5}}`,
    { state: 'offline', session: { id: NOW - 5, start: NOW - 5, offset: null } },
  ],
])('Status message: payload %j: state and session are read', (payload, expected) => {
  expect(readStatus(Buffer.from(payload), NOW)).toEqual(expected);
});

test.each([
  ['asleep', '', /^must be online or offline$/],
  ['[]', '', /^must be online or offline$/],
  ['{"state":"asleep"}', 'state', /^must be online or offline$/],
  ['{}', 'state', /^must be online or offline$/],
  ['{', '', /JSON/],
])('Status message: payload %j: refused as malformed, with path and rule', (payload, path, rule) => {
  const error = expect.objectContaining({ code: 'malformed', path, message: expect.stringMatching(rule) });
  expect(() => readStatus(Buffer.from(payload), NOW)).toThrow(error);
});
