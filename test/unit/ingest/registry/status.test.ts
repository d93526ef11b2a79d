import { expect, test } from '@jest/globals';
import { readStatus } from '../../../../api/ingest/registry/status.ts';

const NOW = Date.UTC(2026, 10, 22);

/** No session is named. */
const NONE = { id: null, start: NOW, offset: null };

test.each([
  ['online', { state: 'online', session: NONE }],
  [' offline\n', { state: 'offline', session: NONE }],
  ['Online', { state: 'online', session: NONE }],
  ['OFFLINE', { state: 'offline', session: NONE }],
  ['{"online":true}', { state: 'online', session: NONE }],
  [
    `{"online":false,"session":${NOW - 5}}`,
    { state: 'offline', session: { id: NOW - 5, start: NOW - 5, offset: null } },
  ],
  ['{"state":"Offline","online":true}', { state: 'offline', session: NONE }],
  [
    `{"state":"offline","session":${NOW - 5}}`,
    { state: 'offline', session: { id: NOW - 5, start: NOW - 5, offset: null } },
  ],
])('Status message: payload %j: state and session are read', (payload, expected) => {
  expect(readStatus(Buffer.from(payload), NOW)).toEqual(expected);
});

test.each([
  ['asleep', '', /^must be online or offline, as in/],
  ['[]', '', /^must be online or offline, as in/],
  ['{"state":"asleep"}', 'state', /^must be online or offline, as in/],
  ['{}', 'state', /^must be online or offline, as in/],
  ['{"online":"true"}', 'state', /^must be online or offline, as in/],
  ['{"online":1}', 'state', /^must be online or offline, as in/],
  ['1', '', /^must be online or offline, as in/],
  ['{', '', /JSON/],
])('Status message: payload %j: refused as malformed, with path and rule', (payload, path, rule) => {
  const error = expect.objectContaining({ code: 'malformed', path, message: expect.stringMatching(rule) });
  expect(() => readStatus(Buffer.from(payload), NOW)).toThrow(error);
});
