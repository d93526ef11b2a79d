/** The query parameters of a request. Parameters that are null, undefined or empty are left out. */
export type Query = Record<string, string | number | null | undefined>;

/** `type`: expected media type; `body`: content that is sent as JSON; `file`: content that is sent unchanged; `base`: start of the path */
type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  type?: string;
  body?: unknown;
  file?: { type: string; content: Blob };
  base?: string;
};

export const BASE = '/api/v1';

/** Creates the functions that send requests to the API. Each may throw a Problem, or an AbortError after `signal` aborts. */
export function createRequests({ fetch }: { fetch: typeof globalThis.fetch }) {
  async function get(path: string, query: Query, signal?: AbortSignal) {
    return JSON.parse(await read(`${path}${toQuery(query)}`, signal));
  }

  async function post(
    path: string,
    content: Pick<RequestOptions, 'body' | 'file'> = {},
    signal?: AbortSignal,
  ) {
    return JSON.parse(await read(path, signal, { ...content, method: 'POST' }));
  }

  async function read(path: string, signal?: AbortSignal, options?: RequestOptions): Promise<string> {
    const response = await requestOk(path, signal, options);
    // A connection that breaks within an answer also counts as unreachable.
    return orUnreachable(response.text(), signal);
  }

  /** @throws {Problem} if there is no answer, or its status is an error */
  async function requestOk(path: string, signal?: AbortSignal, options?: RequestOptions): Promise<Response> {
    const response = await request(path, signal, options);
    if (!response.ok) throw await readProblem(response);
    return response;
  }

  function request(
    path: string,
    signal?: AbortSignal,
    { method = 'GET', type = 'application/json', body, file, base = BASE }: RequestOptions = {},
  ): Promise<Response> {
    const json = body === undefined ? null : { type: 'application/json', content: JSON.stringify(body) };
    const content = file ?? json;
    const sent = content ? { body: content.content } : {};
    const headers = { Accept: type, ...(content && { 'Content-Type': content.type }) };
    return orUnreachable(
      fetch(`${base}${path}`, { method, headers, signal: signal ?? null, ...sent }),
      signal,
    );
  }

  async function orUnreachable<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
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

  return { get, post, requestOk, read, request };
}

export function toQuery(query: Query): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

export async function readProblem(response: Response): Promise<Problem> {
  const isProblem = response.headers.get('content-type')?.includes('application/problem+json');
  if (isProblem) return new Problem({ status: response.status, ...(await response.json()) });
  return new Problem({
    title: `The API answered ${response.status}`,
    detail: response.statusText,
    status: response.status,
  });
}

export class Problem extends Error {
  readonly detail: string;
  readonly code: string;
  readonly status: number;

  constructor({
    title,
    detail = '',
    code = 'internal',
    status = 0,
  }: {
    title: string;
    detail?: string;
    /** stable code of the API, or `unreachable` */
    code?: string;
    /** HTTP status; 0 when no answer came */
    status?: number;
  }) {
    super(title);
    this.name = 'Problem';
    this.detail = detail;
    this.code = code;
    this.status = status;
  }

  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ title: 'The dashboard failed', detail: String(error), status: 400 });
}

/** For `catch`: turns a 404 into null, because "not found" is a valid answer. */
export function nullIfMissing(error: unknown): null {
  if (toProblem(error).code === 'not_found') return null;
  throw error;
}

/** If the code of a problem is unknown, the advice is `detail` from the API, which describes the error in the request. */
export type ProblemWords = { title: string; advice: string };

const WORDS: Record<string, ProblemWords> = {
  unreachable: {
    title: 'The API cannot be reached',
    advice: 'It may be restarting, or the network between here and there is broken.',
  },
  unavailable: {
    title: 'The database does not answer',
    advice: 'The API runs, but cannot read. Devices can go on. Their messages wait, and are not lost.',
  },
  busy: {
    title: 'The API is overloaded',
    advice: 'It serves earlier requests first.',
  },
  unauthorized: {
    title: 'You are not signed in',
    advice: 'Reload this page, and sign in.',
  },
  forbidden: {
    title: 'Your token does not allow this',
    advice:
      'It lets you read. Changes need a token with the scope admin. Sign out, and sign in with such a token.',
  },
  rate_limited: {
    title: 'Too many requests come from this address',
    advice: 'Other clients at the same address count as well. Wait a few seconds.',
  },
  not_found: {
    title: 'Not found',
    advice:
      'It was retired, it has expired, or the address is mistyped. A device appears with its first message.',
  },
  bad_cursor: {
    title: 'This page is no longer valid',
    advice: 'The address of a page is valid for a day. Start again at the first page.',
  },
  wrong_host: {
    title: 'The API is not served under this name',
    advice: 'It listens on this machine alone: open it as http://localhost or http://127.0.0.1.',
  },
  internal: {
    title: 'Something failed inside the API',
    advice: 'Its log has the error.',
  },
};

const invalidAddress: (detail: string) => ProblemWords = (detail) => ({
  title: 'The address asks for something that the API does not accept',
  advice: detail,
});

export function problemText(error: unknown): string {
  const { title, advice } = problemWords(toProblem(error));
  return advice ? `${title}. ${advice}` : `${title}.`;
}

export function problemWords({ code, status, message, detail }: Problem): ProblemWords {
  if (code === 'internal' && status < 500) return { title: message, advice: detail };
  return WORDS[code] ?? (status === 400 ? invalidAddress(detail) : { title: message, advice: detail });
}
