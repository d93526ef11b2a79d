import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from '@jest/globals';
import pino, { type Logger } from 'pino';
import { firstSightFeature } from '../../../api/features/first-sight/index.ts';
import { createContext } from '../../../api/observability/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { listening } from '../../support/http/listening.ts';
import { NO_ENV_FILE } from '../../support/settings.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();

async function startFeature(settings: Record<string, string>, logger: Logger = pino({ level: 'silent' })) {
  const config = readSettings(settings, { envFile: NO_ENV_FILE });
  const context = createContext({ config, version: 'test', logger });
  return firstSightFeature.create({ context } as never);
}

async function startWith(listener: RequestListener, logger?: Logger) {
  const server = createServer(listener);
  const port = await listening(server);
  afterwards(() => {
    server.closeAllConnections();
    server.close();
  });
  const settings = { FIRST_SIGHT_URL: `http://127.0.0.1:${port}/` };
  const { onRegistered, stop } = await startFeature(settings, logger);
  afterwards(() => stop?.());
  return (id: string) => onRegistered?.({ id, name: id, site: null } as never);
}

test('First sight: the receiver redirects to another address: the device is posted again, and not taken as delivered', async () => {
  const requests: string[] = [];
  const register = await startWith((req, res) => {
    requests.push(`${req.method} ${req.url}`);
    if (req.url === '/') res.writeHead(302, { Location: '/elsewhere' });
    res.end();
  });
  register('pump');
  await until(() => requests.length === 2);
  expect(requests).toEqual(['POST /', 'POST /']);
});

test('First sight: the answer of the receiver does not end: its connection is closed at once', async () => {
  let closedAfter = Number.NaN;
  const register = await startWith((_req, res) => {
    const began = performance.now();
    res.write('more follows');
    res.on('close', () => {
      closedAfter = performance.now() - began;
    });
  });
  register('pump');
  await until(() => !Number.isNaN(closedAfter));
  expect(closedAfter).toBeLessThan(3000);
});

test('First sight: 10,100 devices register while the receiver does not answer: 10,000 posts wait, and the log has the others', async () => {
  const lines: string[] = [];
  const register = await startWith(
    () => {},
    pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
  );
  for (let index = 0; index < 10_100; index++) register(`pump ${index}`);
  // Four are under way.
  expect(lines.map((line) => JSON.parse(line).device)).toEqual(
    Array.from({ length: 96 }, (_, index) => `pump ${10_004 + index}`),
  );
});

test('First sight: FIRST_SIGHT_URL is not set: the feature listens to nothing', async () => {
  expect((await startFeature({})).onRegistered).toBeUndefined();
});

test('Tutorial "Write a feature": block of the feature: equals the file', () => {
  const page = readFileSync('docs/tutorial/write-a-feature.md', 'utf8');
  const source = readFileSync('api/features/first-sight/index.ts', 'utf8');
  expect(page).toContain(`\n\`\`\`ts\n${source}\`\`\`\n`);
});
