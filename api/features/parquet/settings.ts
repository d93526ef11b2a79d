import { resolve } from 'node:path';
import { defineSettings } from '../../../common/settings/group.ts';
import { matching, text, webAddress } from '../../../common/settings/value-types.ts';

/** `directory`: an absolute path */
export type ParquetPlace = { directory: string } | S3Place;

export interface S3Place {
  bucket: string;
  /** prefix of all object keys; may be empty */
  prefix: string;
  /** URL without a slash at its end */
  endpoint: string;
  region: string;
  keyId: string;
  secret: string;
}

export const PARQUET_SETTINGS = defineSettings({
  title: 'Streaming to Parquet files',
  shape: {
    STREAM_PARQUET: matching(
      /^(?:s3:\/\/[a-z0-9][a-z0-9.-]{2,62}(?:\/.*)?|(?!s3:).+)$/,
      'the path of a directory or s3://bucket/prefix',
    )
      .optional()
      .meta({
        description:
          'Directory or S3 bucket that gets finished days as Parquet files. All processes that ingest share it.',
        unset: 'off',
      }),
    STREAM_S3_ENDPOINT: webAddress()
      .optional()
      .meta({ description: 'Address of an S3 server.', unset: 'Amazon S3 in STREAM_S3_REGION' }),
    STREAM_S3_REGION: text().prefault('us-east-1').describe('Region of the bucket.'),
    STREAM_S3_KEY_ID: text().optional().describe('Id of the access key for S3.'),
    STREAM_S3_SECRET: text().optional().meta({ description: 'Secret of STREAM_S3_KEY_ID.', secret: true }),
  },
  /** Null place: no Parquet files are written. */
  arrange(v): { place: ParquetPlace | null } {
    if (v.STREAM_PARQUET === undefined) return { place: null };
    const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(v.STREAM_PARQUET) ?? [];
    if (bucket === undefined) return { place: { directory: resolve(v.STREAM_PARQUET) } };
    const region = v.STREAM_S3_REGION;
    const endpoint = (v.STREAM_S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '');
    const keys = { keyId: v.STREAM_S3_KEY_ID ?? '', secret: v.STREAM_S3_SECRET ?? '' };
    return { place: { bucket, prefix, endpoint, region, ...keys } };
  },
  rules({ place }) {
    if (!place || !('bucket' in place)) return [];
    return [
      [!place.keyId, 'STREAM_S3_KEY_ID must be set when STREAM_PARQUET is a bucket'],
      [!place.secret, 'STREAM_S3_SECRET must be set when STREAM_PARQUET is a bucket'],
    ];
  },
});
