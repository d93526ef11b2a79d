import { Problem } from './problem.js';

/**
 * @typedef {Record<string, string | number | null | undefined>} Query values that are null, undefined or empty are left out
 * @typedef {{ method?: 'GET' | 'POST' | 'DELETE', type?: string, body?: unknown }} How `type`: of the answer; `body`: sent as JSON
 */

export const BASE = '/api/v1';

/**
 * Requests to the API. Each may throw a Problem, or an AbortError by `signal`.
 *
 * @param {{ fetch: typeof globalThis.fetch }} deps
 */
export function createRequests({ fetch }) {
  /** @param {string} path @param {Query} query @param {AbortSignal} [signal] */
  async function get(path, query, signal) {
    return JSON.parse(await read(`${path}${toQuery(query)}`, signal));
  }

  /** @param {string} path @param {AbortSignal} [signal] @param {How} [how] @returns {Promise<string>} */
  async function read(path, signal, how) {
    const response = await good(path, signal, how);
    // An API that goes away half-way through an answer cannot be reached either.
    return arrived(response.text(), signal);
  }

  /** @param {string} path @param {AbortSignal} [signal] @param {How} [how] @returns {Promise<Response>} a good one */
  async function good(path, signal, how) {
    const response = await reach(path, signal, how);
    if (!response.ok) throw await readProblem(response);
    return response;
  }

  /** @param {string} path @param {AbortSignal} [signal] @param {How} [how] @returns {Promise<Response>} good or not */
  function reach(path, signal, { method = 'GET', type = 'application/json', body } = {}) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { Accept: type, ...(sent.body && { 'Content-Type': 'application/json' }) };
    return arrived(fetch(`${BASE}${path}`, { method, headers, signal: signal ?? null, ...sent }), signal);
  }

  /** @template T @param {Promise<T>} answer @param {AbortSignal} [signal] @returns {Promise<T>} */
  async function arrived(answer, signal) {
    try {
      return await answer;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem({
        title: 'The API cannot be reached',
        detail: 'It may be restarting. The values are those of its last answer.',
        code: 'unreachable',
      });
    }
  }

  return { get, good, read, reach };
}

/** @param {Query} query @returns {string} */
export function toQuery(query) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** @param {Response} response @returns {Promise<Problem>} */
export async function readProblem(response) {
  const isProblem = response.headers.get('content-type')?.includes('application/problem+json');
  if (isProblem) return new Problem({ status: response.status, ...(await response.json()) });
  return new Problem({
    title: `The API answered ${response.status}`,
    detail: response.statusText,
    status: response.status,
  });
}
