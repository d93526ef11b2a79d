/**
 * An entry of the table of all errors below. The manual shows it in `docs/reference/errors.md`.
 *
 * - `refusal`: Millrace did not store a measurement. Dead letters count these codes, and 422 answers list them.
 * - `problem`: the API did not serve an HTTP request. The name of the error is the `code` of an RFC 9457 problem document.
 * - `stop`: a command ended with this error. The command prints one message and sets the exit code of the process.
 */
export type ErrorEntry = {
  kind: 'refusal' | 'problem' | 'stop';
  title: string;
  status?: number;
  exit?: number;
};

export const ERRORS = {
  malformed: { kind: 'refusal', status: 400, title: 'The payload does not match its format' },
  unknown_format: { kind: 'refusal', status: 415, title: 'No decoder knows this content type or shape' },
  bad_id: { kind: 'refusal', status: 400, title: 'An id is a lower-case UUID or a name of 1 to 128 bytes' },
  bad_timestamp: {
    kind: 'refusal',
    status: 422,
    title: 'The time is neither epoch milliseconds nor ISO 8601',
  },
  too_old: { kind: 'refusal', status: 422, title: 'The time is before the retention of history' },
  in_future: { kind: 'refusal', status: 422, title: 'The time is further ahead than MAX_CLOCK_SKEW allows' },
  not_finite: { kind: 'refusal', status: 422, title: 'The value is infinite or NaN' },
  not_numeric: { kind: 'refusal', status: 422, title: 'The value is not a number' },
  too_large: {
    kind: 'refusal',
    status: 413,
    title: 'The message is over MAX_MESSAGE_BYTES or 10,000 samples',
  },
  unknown_device: { kind: 'refusal', status: 422, title: 'The device has not registered' },
  unknown_sensor: { kind: 'refusal', status: 422, title: 'The sensor has not registered' },
  registration_limit: { kind: 'refusal', status: 422, title: 'The limit of devices or sensors is reached' },
  other_session: {
    kind: 'refusal',
    status: 422,
    title: 'The death certificate is of another session of its edge node',
  },
  rejected: { kind: 'refusal', status: 422, title: 'The database rejects this content' },

  bad_parameter: {
    kind: 'problem',
    status: 400,
    title: 'A parameter is unknown or has a value out of range',
  },
  bad_file: { kind: 'problem', status: 400, title: 'The file cannot be imported' },
  bad_request: { kind: 'problem', status: 400, title: 'The request is not valid HTTP' },
  bad_range: { kind: 'problem', status: 400, title: 'The range ends before it begins' },
  bad_cursor: { kind: 'problem', status: 400, title: 'The cursor is not valid for this request' },
  unauthorized: { kind: 'problem', status: 401, title: 'The request needs a token, or a session' },
  forbidden: { kind: 'problem', status: 403, title: 'The caller may not do this' },
  not_found: { kind: 'problem', status: 404, title: 'The resource does not exist' },
  method_not_allowed: { kind: 'problem', status: 405, title: 'The address does not serve this method' },
  not_acceptable: {
    kind: 'problem',
    status: 406,
    title: 'The Accept header excludes all media types of this route',
  },
  too_slow: { kind: 'problem', status: 408, title: 'The request did not arrive in time' },
  not_replayable: {
    kind: 'problem',
    status: 409,
    title: 'The dead letter does not contain the whole message',
  },
  too_late: { kind: 'problem', status: 409, title: 'The correction can no longer be undone' },
  credential_exists: {
    kind: 'problem',
    status: 409,
    title: 'The account has a credential; rotate it, or revoke it first',
  },
  asset_exists: { kind: 'problem', status: 409, title: 'An asset with this name exists at this place' },
  asset_circle: { kind: 'problem', status: 409, title: 'The new parent is the asset itself or below it' },
  asset_level: {
    kind: 'problem',
    status: 409,
    title: 'The level of an asset is not below that of its parent',
  },
  asset_in_use: { kind: 'problem', status: 409, title: 'The asset has children, devices or sensors' },
  wrong_host: { kind: 'problem', status: 421, title: 'On loopback only loopback host names are served' },
  refused: {
    kind: 'problem',
    status: 422,
    title: 'Some or all measurements were refused',
  },
  query_too_large: {
    kind: 'problem',
    status: 422,
    title: 'The query has more sensors or bins than one answer may have',
  },
  lines_refused: {
    kind: 'problem',
    status: 400,
    title: 'Some or all lines were refused',
  },
  rate_limited: {
    kind: 'problem',
    status: 429,
    title: 'Too many requests came from this address; try again later',
  },
  busy: { kind: 'problem', status: 429, title: 'The process is at its limit; try again later' },
  headers_too_large: {
    kind: 'problem',
    status: 431,
    title: 'The address and the headers are too long',
  },
  unavailable: { kind: 'problem', status: 503, title: 'The database does not answer; try again later' },
  internal: { kind: 'problem', status: 500, title: 'An internal error occurred' },

  help: { kind: 'stop', exit: 0, title: 'The help of the command' },
  failed: { kind: 'stop', exit: 1, title: 'The command failed' },
  usage: { kind: 'stop', exit: 2, title: 'The command line is wrong' },
  session_taken: { kind: 'stop', exit: 64, title: 'Another process took the MQTT session; do not restart' },
  java_missing: { kind: 'stop', exit: 65, title: 'Java 17 was not found' },
  tool_missing: { kind: 'stop', exit: 66, title: 'A required program is missing' },
  install_failed: { kind: 'stop', exit: 67, title: 'An installation failed' },
  engine_failed: { kind: 'stop', exit: 68, title: 'The local database did not start, or died' },
  database_away: { kind: 'stop', exit: 69, title: 'The database does not answer' },
  disk_full: { kind: 'stop', exit: 70, title: 'The disk is full' },
  port_taken: { kind: 'stop', exit: 71, title: 'Another program listens on a required port' },
  broker_away: { kind: 'stop', exit: 72, title: 'The broker does not answer, or refuses the connection' },
  schema_differs: { kind: 'stop', exit: 73, title: 'The schema or its settings differ from this process' },
  not_ours: { kind: 'stop', exit: 74, title: 'A directory has no marker file of Millrace' },
  data_dir_taken: { kind: 'stop', exit: 75, title: 'Another engine uses this data directory' },
  not_all_replayed: { kind: 'stop', exit: 76, title: 'Not all measurements of the replay are stored' },
  no_session: { kind: 'stop', exit: 77, title: 'The broker has no such session' },
  bad_settings: { kind: 'stop', exit: 78, title: 'Settings are missing or wrong' },
} satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Reasons for which Millrace does not store a measurement, a sensor of a birth, or a whole message. */
export interface Refusal {
  /** counted from 0; -1 stands for the message as a whole */
  index: number;
  code: ErrorCode;
  /**
   * JSON path of the field that breaks the rule, such as `sensors[3].unit`; empty for the message as a whole.
   * For a binary format the path has the field names of its specification
   */
  path?: string;
  /** the rule for valid values. Dead letters of older versions have neither path nor rule */
  rule?: string;
}

/** Such as `sensors[3].unit: must not be empty`; empty: unknown. */
export const refusalText = ({ path, rule = '' }: Pick<Refusal, 'path' | 'rule'>): string =>
  path ? `${path}: ${rule}` : rule;

/** The message explains the problem and the remedy to a person. */
export class MillraceError extends Error {
  declare code: ErrorCode;
  declare details: Record<string, unknown> | undefined;
  declare path: string;

  /**
   * @param message default: the title in the table
   * @param more `details` become members of a problem document; `path` is the JSON path of the invalid field of a message
   */
  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].title,
    { cause, details, path = '' }: { cause?: unknown; details?: Record<string, unknown>; path?: string } = {},
  ) {
    super(message, { cause });
    this.name = 'MillraceError';
    this.code = code;
    this.details = details;
    this.path = path;
  }

  /** 500 for a `stop`, which should never reach an HTTP client. */
  get status() {
    return (ERRORS[this.code] as ErrorEntry).status ?? 500;
  }

  get exitCode() {
    return (ERRORS[this.code] as ErrorEntry).exit ?? 1;
  }
}

// No `instanceof Error`: an error of another realm, as in jest, is none of ours.
export const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

/** Such as `ENOENT` in an error of Node.js. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
