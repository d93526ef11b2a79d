import { Problem } from './problem.js';

/**
 * @typedef {import('./types.js').LatestItem} LatestItem
 * @typedef {import('./types.js').SensorInfo} SensorInfo
 * @typedef {import('./types.js').DeviceInfo} DeviceInfo
 * @typedef {import('./types.js').Measurement} Measurement
 * @typedef {Record<string, string | number | null | undefined>} Query values that are null, undefined or empty are left out
 */

const BASE = '/api/v1';

/** @param {string} id UUID or name @returns {string} a path segment */
const segment = (id) => encodeURIComponent(id);

/**
 * The routes of the API that the dashboard reads. Every method may throw a Problem, or an AbortError by `signal`.
 *
 * @param {{ fetch: typeof globalThis.fetch }} parts
 */
export function createClient({ fetch }) {
  /** @param {string} path @param {Query} query @param {AbortSignal} [signal] */
  async function get(path, query, signal) {
    const response = await reach(`${BASE}${path}${toQuery(query)}`, signal);
    if (!response.ok) throw await readProblem(response);
    return response.json();
  }

  /** @param {string} url @param {AbortSignal} [signal] */
  async function reach(url, signal) {
    try {
      return await fetch(url, { headers: { Accept: 'application/json' }, signal: signal ?? null });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem({
        title: 'The API cannot be reached',
        detail: 'It may be restarting. What is shown was true when it last answered.',
        code: 'unreachable',
      });
    }
  }

  return {
    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<import('./types.js').Page<LatestItem>>} */
    latest: (query, signal) => get('/latest', query, signal),

    /** @param {string} device @param {AbortSignal} [signal] @returns {Promise<DeviceInfo>} */
    device: (device, signal) => get(`/devices/${segment(device)}`, {}, signal),

    /**
     * @param {string} device @param {string} sensor @param {AbortSignal} [signal]
     * @returns {Promise<SensorInfo & { device_id: string }>}
     */
    sensor: (device, sensor, signal) =>
      get(`/devices/${segment(device)}/sensors/${segment(sensor)}`, {}, signal),

    /**
     * @param {string} device @param {string} sensor @param {Query} query @param {AbortSignal} [signal]
     * @returns {Promise<import('./types.js').Page<Measurement>>} newest first
     */
    measurements: (device, sensor, query, signal) =>
      get(`/devices/${segment(device)}/sensors/${segment(sensor)}/measurements`, query, signal),
  };
}

/** @typedef {ReturnType<typeof createClient>} Client */

/** @param {Query} query @returns {string} */
export function toQuery(query) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** @param {Response} response @returns {Promise<Problem>} */
async function readProblem(response) {
  const isProblem = response.headers.get('content-type')?.includes('application/problem+json');
  if (isProblem) return new Problem({ status: response.status, ...(await response.json()) });
  return new Problem({
    title: `The API answered ${response.status}`,
    detail: response.statusText,
    status: response.status,
  });
}
