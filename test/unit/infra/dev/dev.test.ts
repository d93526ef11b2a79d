import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { claimDataDir, emptyDataDir } from '../../../../common/data-dir.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { KEPT_FOLDERS } from '../../../../infra/dev/prepare.ts';
import { childEnvironment } from '../../../../infra/dev/settings.ts';

describe('Dev: --fresh', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-fresh-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('npm run dev -- --fresh: data directory of Millrace: emptied, except for downloads and certificates', async () => {
    await claimDataDir(dir);
    for (const name of ['engine', 'tls', 'cassandra', 'cursor-secret']) await writeFile(join(dir, name), '');
    await emptyDataDir(dir, KEPT_FOLDERS);
    expect((await readdir(dir)).sort()).toEqual(['.millrace', 'engine', 'tls']);
  });

  test('npm run dev -- --fresh: the data directory has unknown files: not_ours, and no file is removed', async () => {
    await writeFile(join(dir, 'thesis.tex'), '');
    await claimDataDir(dir);
    await expect(emptyDataDir(dir, [])).rejects.toMatchObject({ code: 'not_ours' });
    await access(join(dir, 'thesis.tex'));
  });
});

const config = readSettings({}, { envFile: join(tmpdir(), 'millrace-no-file') });

test('npm run dev: local database: the TLS settings of a remote cluster are removed from the environment', () => {
  expect(childEnvironment(config, '127.0.0.1:9042', null)).toMatchObject({
    CQL_CONTACT_POINTS: '127.0.0.1:9042',
    CQL_TLS_CA: '',
    CQL_TLS_CERT: '',
    CQL_TLS_KEY: '',
  });
});

test('npm run dev: local Kafka: TLS settings and account of a remote Kafka are removed from the environment', () => {
  expect(childEnvironment(config, null, '127.0.0.1:9092')).toMatchObject({
    STREAM_KAFKA: '127.0.0.1:9092',
    STREAM_TLS: '',
    STREAM_TLS_CA: '',
    STREAM_TLS_CERT: '',
    STREAM_TLS_KEY: '',
    STREAM_USERNAME: '',
    STREAM_PASSWORD: '',
    STREAM_PASSWORD_FILE: '',
  });
});
