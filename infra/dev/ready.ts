import { setTimeout as sleep } from 'node:timers/promises';
import { askApi } from '../../common/api-client.ts';
import { MillraceError } from '../../common/errors.ts';

const POLL_MS = 150;
const ANSWER_MS = 2000;
const READY_MS = 60_000;

/**
 * @param url root URL of the API, with a slash at the end
 * @param options `certificate`: path of HTTP_TLS_CERT; `log`: path of the API's log, for the error message
 * @throws `failed` when the API is not ready within a minute
 */
export async function untilReady(
  url: string,
  {
    token,
    certificate,
    log,
    onStatus,
    signal,
  }: {
    token?: string;
    certificate?: string;
    log: string;
    onStatus: (text: string) => void;
    signal: AbortSignal;
  },
) {
  const began = Date.now();
  let last: string | null = null;
  while (Date.now() - began < READY_MS) {
    last = await ask(`${url}readyz`, { token, certificate });
    if (last === 'ready') return;
    onStatus(`The API starts. ${last === null ? 'It does not answer yet' : `Its check answers: ${last}`}`);
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new MillraceError(
    'failed',
    `The API was not ready within ${READY_MS / 1000} s; ${url}readyz ${last === null ? 'does not answer' : `answers: ${last}`}. Its log: ${log}`,
  );
}

/** @returns `ready`, or the reason why the API is not ready; null: no answer */
async function ask(url: string, options: { token?: string; certificate?: string }): Promise<string | null> {
  try {
    const { status, text } = await askApi(url, { ...options, withinMs: ANSWER_MS });
    return status === 200 ? 'ready' : `${status} ${text.slice(0, 200)}`;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // An API that does not listen yet is no problem, and the parent notices if its process ends. But a TLS error is reported.
    return options.certificate && code !== 'ECONNREFUSED' ? message : null;
  }
}
