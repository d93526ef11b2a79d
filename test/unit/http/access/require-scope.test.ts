import { expect, test } from '@jest/globals';
import { requireScope } from '../../../../api/access/http/index.ts';

function answerTo(scopes: string[]) {
  const headers: Record<string, string> = {};
  const res = {
    locals: { caller: { scopes } },
    set: (name: string, value: string) => {
      headers[name] = value;
    },
  };
  return { res: res as never, headers };
}

test('Parameter with a scope of its own: the token lacks it: forbidden, with the scope in the answer', () => {
  const { res, headers } = answerTo(['ingest']);
  expect(() => requireScope(res, 'admin')).toThrow(
    expect.objectContaining({ code: 'forbidden', details: { scope: 'admin' } }),
  );
  expect(headers['WWW-Authenticate']).toContain('scope="admin"');
});

test('Parameter with a scope of its own: the token has it: allowed', () => {
  expect(() => requireScope(answerTo(['ingest', 'admin']).res, 'admin')).not.toThrow();
});
