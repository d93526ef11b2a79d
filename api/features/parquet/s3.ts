import { AwsClient } from 'aws4fetch';
import type { Target } from './directory.ts';
import type { S3Place } from './settings.ts';

const REQUEST_MS = 60_000;

/** Further attempts after an answer of 429 or 5xx. */
const RETRIES = 3;

/** The bucket is addressed by path. One request writes an object, so readers see it whole or not at all. `signal` ends all requests. */
export function createS3Target(
  { bucket, prefix, endpoint, region, keyId, secret }: S3Place,
  signal: AbortSignal,
): Target {
  const client = new AwsClient({
    accessKeyId: keyId,
    secretAccessKey: secret,
    service: 's3',
    region,
    retries: RETRIES,
  });
  const folder = [bucket, ...prefix.split('/')].filter(Boolean);
  const urlOf = (path: string) =>
    `${endpoint}/${[...folder, ...path.split('/')].map(encodeURIComponent).join('/')}`;

  /** Null: the object does not exist. @throws if S3 refused the request, or could not be reached */
  async function request(
    method: string,
    path: string,
    body?: Uint8Array<ArrayBuffer>,
  ): Promise<Response | null> {
    const response = await client.fetch(urlOf(path), {
      method,
      ...(body && { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    if (response.ok) return response;
    const answer = await response.text();
    // A missing bucket also gives 404, but it is an error and not a missing object.
    if (response.status === 404 && !answer.includes('NoSuchBucket')) return null;
    const code = /<Code>([^<]*)<\/Code>/.exec(answer)?.[1] ?? '';
    throw new Error(`S3 answered ${method} ${path} with ${response.status} ${code}`.trim());
  }

  return {
    has: async (path) => (await request('HEAD', path)) !== null,

    read: async (path) => (await request('GET', path))?.text() ?? null,

    async write(path, chunks) {
      if (!(await request('PUT', path, Buffer.concat(chunks)))) throw new Error(`S3 did not take ${path}`);
    },

    async remove(path) {
      await request('DELETE', path);
    },
  };
}
