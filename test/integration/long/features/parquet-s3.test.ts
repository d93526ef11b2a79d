import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { AwsClient } from 'aws4fetch';
import { parquetReadObjects } from 'hyparquet';
import S3rver from 's3rver';
import { createS3Target } from '../../../../api/features/parquet/s3.ts';
import { steadyPort } from '../../../../infra/engine/ports.ts';
import { closingOf, DAY_MS, dayOf } from '../../../../schema/rules.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../../../support/system/packed.ts';
import { until } from '../../../support/until.ts';

/** The only access key that s3rver takes. It does not check the signature itself. */
const KEY = 'S3RVER';
const BUCKET = 'lake';
const FOLDER = 'plant 1/ü+=';
const directory = mkdtempSync(join(tmpdir(), 'millrace-s3-'));
const port = await steadyPort();
const endpoint = `http://127.0.0.1:${port}`;
const server = new S3rver({
  address: '127.0.0.1',
  port,
  silent: true,
  directory,
  configureBuckets: [{ name: BUCKET, configs: [] }],
});
await server.run();
const { clock, system, send } = usePackedSystem({
  settings: {
    STREAM_PARQUET: `s3://${BUCKET}/${FOLDER}`,
    STREAM_S3_ENDPOINT: endpoint,
    STREAM_S3_KEY_ID: KEY,
    STREAM_S3_SECRET: KEY,
    LATEST_GROUPS: String(GROUPS),
  },
  periods: { stream: 100 },
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const client = new AwsClient({ accessKeyId: KEY, secretAccessKey: KEY, service: 's3', region: 'us-east-1' });
const urlOf = (path: string) =>
  `${endpoint}/${[BUCKET, ...FOLDER.split('/'), ...path.split('/')].map(encodeURIComponent).join('/')}`;

const openTarget = ({ bucket = BUCKET, keyId = KEY }: { bucket?: string; keyId?: string } = {}) =>
  createS3Target(
    { bucket, prefix: '', endpoint, region: 'us-east-1', keyId, secret: KEY },
    new AbortController().signal,
  );

test('Parquet files on S3: a day is over: its manifests list objects with every sample of the day, also after a second writing', async () => {
  const watermarks = Array.from({ length: GROUPS }, (_, group) => urlOf(`watermark/${group}.json`));
  await until(async () =>
    (await Promise.all(watermarks.map((url) => client.fetch(url, { method: 'HEAD' })))).every(({ ok }) => ok),
  );
  const day = dayOf(clock.now) + DAY_MS;
  const dayText = new Date(day).toISOString().slice(0, 10);
  clock.now = day + DAY_MS / 2;
  const devices = { one: samplesOf(day, 30), two: samplesOf(day, 50) };
  for (const [device, samples] of Object.entries(devices)) await send(device, samples);

  /** @param ts epoch ms */
  async function rowsUntil(ts: number) {
    clock.now = ts;
    // s3rver, unlike S3, does not replace an object at once. So the test reads objects when nothing is being written.
    await until(async () => {
      const metrics = await (await fetch(`${system().httpUrl}/metrics`)).text();
      return Number(/^iot_parquet_lag_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000 < closingOf(0);
    });
    const rows = [];
    for (let group = 0; group < GROUPS; group++) {
      const manifest = await client.fetch(urlOf(`manifest/day=${dayText}/${group}.json`));
      const { files } = await manifest.json();
      for (const { path } of files) {
        const object = await client.fetch(urlOf(path));
        rows.push(...(await parquetReadObjects({ file: await object.arrayBuffer() })));
      }
    }
    return rows.map(({ device, ts, value }) => JSON.stringify([device, ts.getTime(), value])).sort();
  }
  const expected = (sent: Record<string, Array<{ ts: number; value: number }>>) =>
    Object.entries(sent)
      .flatMap(([device, samples]) => samples.map(({ ts, value }) => JSON.stringify([device, ts, value])))
      .sort();

  expect(await rowsUntil(closingOf(dayOf(day) + DAY_MS))).toEqual(expected(devices));
  const late = samplesOf(day + DAY_MS / 2, 10);
  await send('one', late);
  expect(await rowsUntil(closingOf(day + 2 * DAY_MS))).toEqual(
    expected({ ...devices, one: [...devices.one, ...late] }),
  );
});

test('Parquet files on S3: object is written, replaced and removed: readers get the newest content, and null after its removal', async () => {
  const target = openTarget();
  const path = 'a=1/b c.json';
  expect([await target.has(path), await target.read(path)]).toEqual([false, null]);
  await target.write(path, [Buffer.from('one'), Buffer.from(' two')]);
  expect([await target.has(path), await target.read(path)]).toEqual([true, 'one two']);
  await target.write(path, [Buffer.from('three')]);
  expect(await target.read(path)).toBe('three');
  await target.remove(path);
  await target.remove(path);
  expect(await target.read(path)).toBeNull();
});

test.each([
  ['the bucket is missing', { bucket: 'nowhere' }, 'NoSuchBucket'],
  ['the key is unknown', { keyId: 'other' }, 'InvalidAccessKeyId'],
])(
  'Parquet files on S3: %s: reading and writing fail with the error code of S3',
  async (_, options, code) => {
    const target = openTarget(options);
    await expect(target.read('watermark/0.json')).rejects.toThrow(code);
    await expect(target.write('watermark/0.json', [Buffer.from('{}')])).rejects.toThrow(code);
  },
);
