/** Why a request has no answer, in words for the person who waits for it. */
export class Problem extends Error {
  /**
   * @param {object} what
   * @param {string} what.title
   * @param {string} [what.detail]
   * @param {string} [what.code] stable code of the API, or `unreachable`
   * @param {number} [what.status] HTTP status; 0 when no answer came
   */
  constructor({ title, detail = '', code = 'internal', status = 0 }) {
    super(title);
    this.name = 'Problem';
    this.detail = detail;
    this.code = code;
    this.status = status;
  }

  /** Whether the same question may be answered a little later. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** @param {unknown} error @returns {Problem} */
export function toProblem(error) {
  if (error instanceof Problem) return error;
  return new Problem({ title: 'The dashboard failed', detail: String(error), status: 400 });
}

/**
 * What a problem is called, and what whoever meets it can do. `detail` of the API says what is wrong with the very
 * request, and stands where nothing better is known.
 *
 * @typedef {{ title: string, advice: string }} Words
 */

/** By the API's codes; see docs/errors.md. @type {Record<string, Words>} */
const WORDS = {
  unreachable: {
    title: 'The API cannot be reached',
    advice: 'It may be restarting, or the network between here and there is broken.',
  },
  unavailable: {
    title: 'The database does not answer',
    advice: 'The API runs, but cannot read. Devices may go on: what they send is held back, and not lost.',
  },
  busy: {
    title: 'There is no room just now',
    advice: 'The system is under pressure, and serves what came before first.',
  },
  unauthorized: {
    title: 'You are not signed in',
    advice: 'Load this page anew, and sign in.',
  },
  forbidden: {
    title: 'Your token is not good for this',
    advice:
      'It lets you read. What changes something needs a token of the scope admin: sign out, and in again with one.',
  },
  rate_limited: {
    title: 'Too many requests come from here',
    advice: 'Others at the same address count as well. It goes on in a few seconds.',
  },
  not_found: {
    title: 'This is not here',
    advice:
      'It may have been retired or have expired, or the address is mistyped. A device is here from its first message on.',
  },
  bad_cursor: {
    title: 'This page is no longer valid',
    advice: 'The address of a page is good for a day. Begin again at the first one.',
  },
  wrong_host: {
    title: 'The API is not served under this name',
    advice: 'It listens on this machine alone: open it as http://localhost or http://127.0.0.1.',
  },
  internal: {
    title: 'Something failed inside the API',
    advice: 'Its log says what.',
  },
};

/** Of all that is wrong with what was asked: the address says it. @type {(detail: string) => Words} */
const misasked = (detail) => ({
  title: 'The address asks for something that the API does not take',
  advice: detail,
});

/**
 * @param {Problem} problem
 * @returns {Words}
 */
export function wordsOf({ code, status, message, detail }) {
  if (code === 'internal' && status < 500) return { title: message, advice: detail };
  return WORDS[code] ?? (status === 400 ? misasked(detail) : { title: message, advice: detail });
}
