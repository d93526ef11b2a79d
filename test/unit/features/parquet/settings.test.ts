import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PARQUET_SETTINGS } from '../../../../api/features/parquet/settings.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { NO_ENV_FILE, problemsOf } from '../../../support/settings.ts';

test.each([
  ['STREAM_PARQUET', 's3://', 'must be the path of a directory or s3://bucket/prefix'],
  ['STREAM_PARQUET', 's3://Lake/a', 'must be the path of a directory or s3://bucket/prefix'],
  ['STREAM_PARQUET', 's3:lake', 'must be the path of a directory or s3://bucket/prefix'],
  [
    'STREAM_S3_ENDPOINT',
    'minio:9000',
    'must be http://host/path or https://host/path, without user and password',
  ],
])('Settings: wrong value: %s=%s: refused', (name, value, message) => {
  expect(problemsOf({ [name]: value }, [PARQUET_SETTINGS])).toEqual([`${name} ${message}`]);
});

const key = { STREAM_S3_KEY_ID: 'k', STREAM_S3_SECRET: 's' };
const ofAmazon = { bucket: 'lake', region: 'us-east-1', keyId: 'k', secret: 's' };

test.each([
  [{ STREAM_PARQUET: 'lake' }, { directory: join(process.cwd(), 'lake') }],
  [
    { STREAM_PARQUET: 's3://lake', ...key },
    { ...ofAmazon, prefix: '', endpoint: 'https://s3.us-east-1.amazonaws.com' },
  ],
  [
    { STREAM_PARQUET: 's3://lake/plant-1/a', STREAM_S3_REGION: 'eu-central-1', ...key },
    {
      ...ofAmazon,
      prefix: 'plant-1/a',
      region: 'eu-central-1',
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
    },
  ],
  [
    { STREAM_PARQUET: 's3://lake/', STREAM_S3_ENDPOINT: 'https://minio.example:9000//', ...key },
    { ...ofAmazon, prefix: '', endpoint: 'https://minio.example:9000' },
  ],
])('Settings: STREAM_PARQUET: %p: read as a directory or a bucket', (environment, place) => {
  expect(readSettings(environment, { envFile: NO_ENV_FILE }).of(PARQUET_SETTINGS).place).toEqual(place);
});

test.each([
  [
    { STREAM_PARQUET: 's3://lake' },
    [
      'STREAM_S3_KEY_ID must be set when STREAM_PARQUET is a bucket',
      'STREAM_S3_SECRET must be set when STREAM_PARQUET is a bucket',
    ],
  ],
  [
    { STREAM_PARQUET: 's3://lake', STREAM_S3_SECRET: 's' },
    ['STREAM_S3_KEY_ID must be set when STREAM_PARQUET is a bucket'],
  ],
  [
    { STREAM_PARQUET: 's3://lake', STREAM_S3_KEY_ID: 'k' },
    ['STREAM_S3_SECRET must be set when STREAM_PARQUET is a bucket'],
  ],
  [{ STREAM_PARQUET: 's3://lake', STREAM_S3_KEY_ID: 'k', STREAM_S3_SECRET: 's' }, []],
  [{ STREAM_PARQUET: '/srv/lake' }, []],
])('Settings: %p: each conflict is reported, none for a valid combination', (environment, problems) => {
  expect(problemsOf(environment, [PARQUET_SETTINGS])).toEqual(problems);
});
