import { expect, test } from '@jest/globals';
import { createTokens, readToken } from '../../../../api/access/http/tokens.ts';

const tokensOf = (settings: Partial<Parameters<typeof createTokens>[0]>) =>
  createTokens({ apiToken: undefined, readTokens: [], ingestTokens: [], correctTokens: [], ...settings });

test.each([
  ['API_TOKEN', { apiToken: 'a' }, { a: ['read', 'ingest', 'correct', 'admin'] }],
  ['READ_TOKENS', { readTokens: ['r', 's'] }, { r: ['read'], s: ['read'] }],
  ['INGEST_TOKENS', { ingestTokens: ['i', 'j'] }, { i: ['ingest'], j: ['ingest'] }],
  ['CORRECT_TOKENS', { correctTokens: ['c'] }, { c: ['ingest', 'correct'] }],
  ['one token in two settings', { readTokens: ['x'], ingestTokens: ['x'] }, { x: ['read', 'ingest'] }],
  [
    'one token in all settings',
    { apiToken: 'x', readTokens: ['x'], ingestTokens: ['x'] },
    { x: ['read', 'ingest', 'correct', 'admin'] },
  ],
])('Tokens: %s: each token has exactly the scopes of its settings', (_, settings, scopes) => {
  const tokens = tokensOf(settings);
  expect(tokens.areSet).toBe(true);
  for (const [token, expected] of Object.entries(scopes)) {
    expect(tokens.find(token)).toEqual({ token, scopes: expected });
  }
});

test.each(['', 'toke', 'token ', ' token', 'Token', 'token\0', 'tokentoken', 'xtoken', '__proto__'])(
  'Tokens: the request has %j, the settings have another token: not found',
  (given) => {
    expect(tokensOf({ readTokens: ['other', 'token'] }).find(given)).toBeNull();
  },
);

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test.each([
  [undefined, null],
  ['', null],
  ['Bearer token', 'token'],
  ['bearer token', 'token'],
  ['BEARER   token', 'token'],
  ['Bearer a token of words', 'a token of words'],
  ['Bearer ', ''],
  ['Bearer', ''],
  ['Bearertoken', ''],
  [basic(':token'), 'token'],
  [basic('anybody:token'), 'token'],
  [basic('anybody:a:b'), 'a:b'],
  [basic('anybody:tökén'), 'tökén'],
  [basic(':token').replace('Basic', 'bAsIc'), 'token'],
  ['Basic', ''],
  ['Digest token', ''],
  ['token', ''],
])('Authorization header: %j: the token is %j', (header, token) => {
  expect(readToken(header)).toBe(token);
});
