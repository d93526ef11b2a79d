import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { useTestSystem } from '../../support/system/use.ts';

const LIMIT = 1_048_576;
const PARQUET = 'application/vnd.apache.parquet';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-upload-'));
const uploads = join(dataDir, 'imports');
mkdirSync(uploads);
writeFileSync(join(uploads, 'left-over'), 'PAR1');
const system = useTestSystem({ settings: { DATA_DIR: dataDir, IMPORT_MAX_BYTES: String(LIMIT) } });
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/**
 * Sends a body of unknown length, a chunk at a time, until there is an answer, and waits until the API closes the connection.
 */
function sendEndless(type: string, first: string): Promise<{ status: number | undefined; answer: unknown }> {
  return new Promise((resolve, reject) => {
    const req = request(`${system.httpUrl}/api/v1/import?device=d`, {
      method: 'POST',
      headers: { 'content-type': type, 'transfer-encoding': 'chunked' },
    });
    const timer = setInterval(() => req.write(Buffer.alloc(65_536, '\n')), 2);
    let received: { status: number | undefined; answer: unknown } | undefined;
    req.once('error', () => {});
    req.once('response', async (res) => {
      clearInterval(timer);
      let text = '';
      for await (const chunk of res) text += chunk;
      received = { status: res.statusCode, answer: JSON.parse(text) };
    });
    req.once('close', () => {
      clearInterval(timer);
      if (received) resolve(received);
      else reject(new Error('The connection was closed without an answer.'));
    });
    req.write(first);
  });
}

test('Import over HTTP: a killed process left upload files: the next start removes them', () => {
  expect(readdirSync(uploads)).toEqual([]);
});

test('Import over HTTP: Parquet file is larger than IMPORT_MAX_BYTES: answers 413', async () => {
  const response = await system.fetch('/import', {
    method: 'POST',
    headers: { 'content-type': PARQUET },
    body: Buffer.alloc(LIMIT + 1),
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    code: 'too_large',
    detail: expect.stringContaining('1048576'),
  });
});

test('Import over HTTP: Parquet file of unknown length grows beyond IMPORT_MAX_BYTES: answers 413, and the upload is removed', async () => {
  expect(await sendEndless(PARQUET, 'PAR1')).toMatchObject({ status: 413, answer: { code: 'too_large' } });
  expect(readdirSync(uploads)).toEqual([]);
});

test('Import over HTTP: first line of a CSV is refused while more lines arrive: the client gets 400', async () => {
  expect(await sendEndless('text/csv', `a,b\n${'1,2\n'.repeat(20_000)}`)).toMatchObject({
    status: 400,
    answer: { code: 'bad_file' },
  });
});
