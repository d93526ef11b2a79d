/**
 * Every error that Millrace names, in one table. `docs/errors.md` mirrors it, and a test compares the two.
 *
 * - `refusal`: why one measurement was not stored; counted in dead letters and listed in a 422 answer.
 * - `problem`: why one HTTP request was not served; the `code` of an RFC 9457 problem document.
 * - `stop`: why a command ended; printed as one message, with the exit code of the process.
 *
 * @typedef {{ kind: 'refusal' | 'problem' | 'stop', title: string, status?: number, exit?: number }} ErrorEntry
 */

/** @satisfies {Record<string, ErrorEntry>} */
export const ERRORS = {
  malformed: { kind: 'refusal', status: 400, title: 'The payload is not what its format demands' },
  unknown_format: { kind: 'refusal', status: 415, title: 'No decoder knows this content type or shape' },
  bad_id: { kind: 'refusal', status: 400, title: 'An id is a lower-case UUID or a name of 1 to 128 bytes' },
  bad_timestamp: { kind: 'refusal', status: 422, title: 'The time is no epoch milliseconds and no ISO 8601' },
  too_old: { kind: 'refusal', status: 422, title: 'The time is before the retention of history' },
  in_future: { kind: 'refusal', status: 422, title: 'The time is further ahead than MAX_CLOCK_SKEW allows' },
  not_finite: { kind: 'refusal', status: 422, title: 'The value is infinite or not a number' },
  not_numeric: { kind: 'refusal', status: 422, title: 'The value is no number' },
  too_large: {
    kind: 'refusal',
    status: 413,
    title: 'The message is over MAX_MESSAGE_BYTES or 10,000 samples',
  },
  unknown_device: { kind: 'refusal', status: 422, title: 'The device has not registered' },
  unknown_sensor: { kind: 'refusal', status: 422, title: 'The sensor has not registered' },
  registration_limit: { kind: 'refusal', status: 422, title: 'No more devices or sensors are taken' },
  rejected: { kind: 'refusal', status: 422, title: 'The database refuses this content' },

  bad_parameter: {
    kind: 'problem',
    status: 400,
    title: 'A parameter is unknown or has a value out of range',
  },
  bad_request: { kind: 'problem', status: 400, title: 'The request is not valid HTTP' },
  bad_range: { kind: 'problem', status: 400, title: 'The range ends before it begins' },
  bad_cursor: { kind: 'problem', status: 400, title: 'The cursor is not valid for this request' },
  unauthorized: { kind: 'problem', status: 401, title: 'The request needs a token, or a session' },
  forbidden: { kind: 'problem', status: 403, title: 'The token is not good for this' },
  not_found: { kind: 'problem', status: 404, title: 'There is no such thing here' },
  method_not_allowed: { kind: 'problem', status: 405, title: 'The method is not served at this address' },
  not_acceptable: { kind: 'problem', status: 406, title: 'Nothing that is served here is accepted' },
  too_slow: { kind: 'problem', status: 408, title: 'The request did not arrive in time' },
  not_replayable: { kind: 'problem', status: 409, title: 'The dead letter does not hold the whole message' },
  credential_exists: {
    kind: 'problem',
    status: 409,
    title: 'The account has a credential; rotate it, or revoke it first',
  },
  wrong_host: { kind: 'problem', status: 421, title: 'Only loopback host names are served on loopback' },
  refused: {
    kind: 'problem',
    status: 422,
    title: 'Measurements were refused; those that were accepted are stored',
  },
  rate_limited: {
    kind: 'problem',
    status: 429,
    title: 'Too many requests came from this address; try again later',
  },
  busy: { kind: 'problem', status: 429, title: 'There is no room for more just now; try again later' },
  headers_too_large: {
    kind: 'problem',
    status: 431,
    title: 'Address and headers together are too long',
  },
  unavailable: { kind: 'problem', status: 503, title: 'The database does not answer; try again later' },
  internal: { kind: 'problem', status: 500, title: 'Something failed inside' },

  help: { kind: 'stop', exit: 0, title: 'What the command takes' },
  failed: { kind: 'stop', exit: 1, title: 'The command failed' },
  usage: { kind: 'stop', exit: 2, title: 'The command line is not understood' },
  session_taken: { kind: 'stop', exit: 64, title: 'Another process took the MQTT session; do not restart' },
  java_missing: { kind: 'stop', exit: 65, title: 'No Java 17 is found' },
  tool_missing: { kind: 'stop', exit: 66, title: 'A program that is needed is missing' },
  install_failed: { kind: 'stop', exit: 67, title: 'Installing what is needed failed' },
  engine_failed: { kind: 'stop', exit: 68, title: 'The local database did not start, or died' },
  database_away: { kind: 'stop', exit: 69, title: 'The database does not answer' },
  disk_full: { kind: 'stop', exit: 70, title: 'The disk has no room left' },
  port_taken: { kind: 'stop', exit: 71, title: 'Something else listens on a port that is needed' },
  broker_away: { kind: 'stop', exit: 72, title: 'The broker does not answer, or refuses us' },
  schema_differs: { kind: 'stop', exit: 73, title: 'The schema or its settings differ from this process' },
  not_ours: { kind: 'stop', exit: 74, title: 'A directory does not bear our marker file' },
  data_dir_taken: { kind: 'stop', exit: 75, title: 'Another engine works in this data directory' },
  not_all_replayed: { kind: 'stop', exit: 76, title: 'Not all that was to be replayed is stored' },
  no_session: { kind: 'stop', exit: 77, title: 'The broker has no such session' },
  bad_settings: { kind: 'stop', exit: 78, title: 'Settings are missing or wrong' },
};

/** @typedef {keyof typeof ERRORS} ErrorCode */

/**
 * Why a measurement, a sensor of a birth, or a whole message was not stored.
 *
 * @typedef {object} Refusal
 * @property {number} index counts the message's elements from 0; -1 stands for the message as a whole
 * @property {ErrorCode} code
 * @property {string} [path] JSON path of what breaks the rule, such as `sensors[3].unit`; empty for the message as a
 *   whole. For CBOR and Sparkplug it names the fields as their specifications do
 * @property {string} [rule] what the value must be. Dead letters of older versions have neither path nor rule
 */

/** @param {Pick<Refusal, 'path' | 'rule'>} refusal @returns {string} `sensors[3].unit: must not be empty`; empty: unknown */
export const refusalText = ({ path, rule = '' }) => (path ? `${path}: ${rule}` : rule);

/** An error of the table above. Its message states the problem and what to do, for a person. */
export class MillraceError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} [message] defaults to the table's title
   * @param {{ cause?: unknown, details?: Record<string, unknown>, path?: string }} [more] `details` become members of a
   *   problem document; `path` is the JSON path of what is wrong in a message
   */
  constructor(code, message = ERRORS[code].title, { cause, details, path = '' } = {}) {
    super(message, { cause });
    this.name = 'MillraceError';
    this.code = code;
    this.details = details;
    this.path = path;
  }

  /** HTTP status of a problem; 500 for what was never meant to reach a client. */
  get status() {
    return /** @type {ErrorEntry} */ (ERRORS[this.code]).status ?? 500;
  }

  /** Exit code of the process that ends with this error. */
  get exitCode() {
    return /** @type {ErrorEntry} */ (ERRORS[this.code]).exit ?? 1;
  }
}
