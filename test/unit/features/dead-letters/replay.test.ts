import { createServer, type RequestListener } from 'node:http';
import { expect, test } from '@jest/globals';
import { replay } from '../../../../api/features/dead-letters/command/replay.ts';
import { ApiClient } from '../../../../common/api-client.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { listening } from '../../../support/http/listening.ts';
import { NO_ENV_FILE } from '../../../support/settings.ts';

const afterwards = useCleanUps();

const HOUR = 3_600_000;

async function replayAt(onRequest: RequestListener, given: { ids?: string[]; from?: number }) {
  const server = createServer(onRequest);
  const config = readSettings(
    { API_URL: `http://127.0.0.1:${await listening(server)}` },
    { envFile: NO_ENV_FILE },
  );
  afterwards(() => server.close());
  const lines: string[] = [];
  const range = { from: given.from ?? 0, to: 3 * HOUR };
  const end = await replay({
    api: new ApiClient(config, () => {}),
    given: {
      command: 'replay',
      ids: given.ids ?? [],
      range,
      filter: { code: 'bad_id', device: 'pump' },
      limit: 0,
    },
    print: (line) => void lines.push(line),
    statusLine: { update() {}, print() {}, clear() {} },
  }).then(
    () => null,
    (error) => error.code,
  );
  return { lines, end };
}

test('npm run dead-letters: replay: the token may not replay: ends at the first answer 403, after the report', async () => {
  const requests: string[] = [];
  const answer = await replayAt(
    ({ url }, res) => {
      if (requests.push(String(url)) === 1) res.end('{"accepted":2}');
      else res.writeHead(403).end('{"code":"forbidden"}');
    },
    { ids: ['a/b', 'second', 'third'] },
  );
  expect(answer).toEqual({ lines: ['1 dead letter: 2 stored'], end: 'forbidden' });
  expect(requests).toEqual(['/api/v1/dead-letters/a%2Fb/replay', '/api/v1/dead-letters/second/replay']);
});

test('npm run dead-letters: replay of a range: summary and lists in several answers: all are replayed, the oldest first', async () => {
  const time = (ms: number) => new Date(ms).toISOString();
  const replayed: string[] = [];
  const answer = await replayAt(
    ({ url }, res) => {
      const { pathname, searchParams } = new URL(String(url), 'http://localhost');
      const [, id] = /([^/]+)\/replay$/.exec(pathname) ?? [];
      const to = Number(searchParams.get('to'));
      // A summary has one hour, and begins at 1,000 ms. A page has one dead letter, whose id is the query without the cursor.
      const begin = Math.max(1000, Math.ceil(to / HOUR - 1) * HOUR);
      const hours = begin < to ? [{ hour: time(begin - (begin % HOUR)), dead_letters: 2, codes: {} }] : [];
      const next = searchParams.has('cursor') ? null : 'older';
      searchParams.delete('cursor');
      if (id) res.end(JSON.stringify({ accepted: replayed.push(decodeURIComponent(id)) && 1 }));
      else if (pathname.endsWith('/summary'))
        res.end(JSON.stringify({ items: hours, from: time(begin), to: time(to) }));
      else res.end(JSON.stringify({ items: [{ id: `${next} ${searchParams}`, topic: 't' }], next }));
    },
    { from: 0 },
  );
  expect(answer).toEqual({ lines: ['6 dead letters: 6 stored'], end: null });
  expect(replayed).toEqual(
    [1000, HOUR, 2 * HOUR].flatMap((from, hour) =>
      [null, 'older'].map(
        (next) => `${next} from=${from}&to=${(hour + 1) * HOUR}&code=bad_id&device=pump&limit=1000`,
      ),
    ),
  );
});
