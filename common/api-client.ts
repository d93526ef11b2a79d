import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type RequestOptions, request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkServerIdentity, rootCertificates } from 'node:tls';
import { addresses } from './addresses.ts';
import { codeOf, ERRORS, MillraceError, messageOf } from './errors.ts';
import { printable } from './printable.ts';
import type { Config } from './settings/config.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Query = Record<string, string | number | undefined>;

/** The HTTP API of the settings, for a command. */
export class ApiClient {
  #root;
  #options;
  #onStatus;

  /** `onStatus` gets a line while the API has no room for a request. */
  constructor({ http, mqtt }: Pick<Config, 'http' | 'mqtt'>, onStatus: (text: string) => void) {
    this.#root = (http.url ?? addresses({ http, mqtt }).dashboard).replace(/\/$/, '');
    this.#options = { token: http.apiToken, certificate: http.url ? undefined : http.tls?.cert };
    this.#onStatus = onStatus;
  }

  /**
   * After 429 it waits for the time in `Retry-After`, and tries again.
   * @param path below /api/v1
   * @returns the JSON of the answer; undefined if the answer has no body
   * @throws the error of the problem document; `failed` if no API answers
   */
  async call<T>(
    method: Method,
    path: string,
    { query = {}, body }: { query?: Query; body?: unknown } = {},
  ): Promise<T> {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search =
      parameters.length > 0 ? `?${new URLSearchParams(parameters as Array<[string, string]>)}` : '';
    for (;;) {
      const { status, headers, text } = await this.#ask(`/api/v1${path}${search}`, method, body);
      if (status < 300) return (text === '' ? undefined : JSON.parse(text)) as T;
      if (status !== 429) throw problemOf(status, text);
      const seconds = Number(headers['retry-after'] ?? 1);
      this.#onStatus(`The API takes no more requests yet. The next attempt is in ${seconds} s.`);
      await sleep(1000 * seconds);
    }
  }

  async #ask(path: string, method: Method, body: unknown) {
    try {
      return await askApi(this.#root + path, { ...this.#options, method, body });
    } catch (error) {
      throw new MillraceError(
        'failed',
        `The API does not answer at ${this.#root}: ${codeOf(error) ?? messageOf(error)}. Start it with npm run dev or npm start, or set API_URL to its address.`,
        { cause: error },
      );
    }
  }
}

function problemOf(status: number, text: string): MillraceError {
  try {
    const problem = JSON.parse(text);
    if (Object.hasOwn(ERRORS, problem.code))
      return new MillraceError(problem.code, problem.detail, { details: problem });
  } catch {
    // A proxy answers with a page.
  }
  return new MillraceError('failed', `The API answered ${status}: ${printable(text.slice(0, 200))}`);
}

/** @throws {Error} when the server does not answer, or presents the certificate of another server */
export async function askApi(
  url: string,
  {
    token,
    certificate,
    withinMs,
    method = 'GET',
    body,
    contentType,
  }: {
    token?: string | undefined;
    /**
     * Path in HTTP_TLS_CERT, for an API of this machine. The server must present this certificate, or another certificate for the same
     * host by the same authority. So the settings need no file of the authority, and DNS needs no name for this machine.
     */
    certificate?: string | undefined;
    /** default: no limit */
    withinMs?: number;
    method?: Method;
    body?: unknown;
    /** of a text; default: the body is sent as JSON */
    contentType?: string;
  },
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const content = contentType === undefined && body !== undefined ? JSON.stringify(body) : body;
  const options = {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(content !== undefined && { 'content-type': contentType ?? 'application/json' }),
    },
    ...(withinMs !== undefined && { signal: AbortSignal.timeout(withinMs) }),
  };
  const sent = url.startsWith('https:')
    ? requestTls(url, { ...options, ...(certificate && trustOnly(readFileSync(certificate))) })
    : request(url, options);
  sent.end(content);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

function trustOnly(pem: Buffer): RequestOptions {
  const host = firstHost(new X509Certificate(pem));
  return {
    agent: false,
    ca: [...rootCertificates, pem.toString()],
    rejectUnauthorized: true,
    // The file may hold only the certificate of the server, without its authority. This option trusts that certificate by itself.
    allowPartialTrustChain: true,
    checkServerIdentity: (_address, shown) => checkServerIdentity(host, shown),
  };
}

/** @returns a host name for which the certificate is valid */
function firstHost({ subjectAltName = '' }: X509Certificate): string {
  const [, host = ''] = /(?:DNS|IP Address):([^,\s]+)/.exec(subjectAltName) ?? [];
  return host.replace(/^\*\./, 'any.');
}
