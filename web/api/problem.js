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
