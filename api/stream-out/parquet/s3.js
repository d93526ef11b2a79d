import { AwsClient } from 'aws4fetch';

/** @import { S3Place } from '../../../common/settings/config.js' */
/** @import { Target } from './directory.js' */

/** Time in ms after which a request has failed. */
const REQUEST_MS = 60_000;

/** Limit of repetitions of a request that S3 answered with 429 or 5xx. */
const RETRIES = 3;

/**
 * Objects of an S3 bucket, addressed by path. One request writes an object, so it appears as a whole.
 *
 * @param {S3Place} place
 * @param {AbortSignal} signal ends all requests
 * @returns {Target}
 */
export function createS3Target({ bucket, prefix, endpoint, region, keyId, secret }, signal) {
  const client = new AwsClient({
    accessKeyId: keyId,
    secretAccessKey: secret,
    service: 's3',
    region,
    retries: RETRIES,
  });
  const folder = [bucket, ...prefix.split('/')].filter(Boolean);
  const urlOf = (/** @type {string} */ path) =>
    `${endpoint}/${[...folder, ...path.split('/')].map(encodeURIComponent).join('/')}`;

  /**
   * @param {string} method
   * @param {string} path
   * @param {Uint8Array<ArrayBuffer>} [body]
   * @returns {Promise<Response | null>} null: there is no such object
   * @throws {Error} S3 refused the request, or could not be reached
   */
  async function request(method, path, body) {
    const response = await client.fetch(urlOf(path), {
      method,
      ...(body && { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    if (response.ok) return response;
    const answer = await response.text();
    // A missing bucket also gives 404, but must not count as a missing object.
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
