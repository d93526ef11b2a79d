import cassandra from 'cassandra-driver';
import { MillraceError } from '../../../common/errors.ts';
import { MAX_REQUEST_BYTES, MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.ts';
import type { Query } from './session.ts';

const { errors, types } = cassandra;

/** Answers of a server to a request that is too large for it, but also to requests of a busy server (native_protocol_v4.spec, section 9). */
const TIMEOUTS = new Set([types.responseErrorCodes.writeTimeout, types.responseErrorCodes.writeFailure]);

/** The id of a statement, the lengths and the number of values, rounded up. */
const STATEMENT_BYTES = 80;

/** At most 256 statements and 256 KiB each, unless a single statement is larger. */
export function requestsOf(queries: Query[]): Query[][] {
  const requests: Query[][] = [];
  let request: Query[] = [];
  let bytes = 0;
  for (const query of queries) {
    const added = bytesOf(query);
    if (request.length >= MAX_STATEMENTS_PER_BATCH || bytes + added > MAX_REQUEST_BYTES) request = [];
    if (request.length === 0) {
      requests.push(request);
      bytes = 0;
    }
    request.push(query);
    bytes += added;
  }
  return requests;
}

export function bytesOf({ params }: Query): number {
  let bytes = STATEMENT_BYTES;
  for (const value of params) {
    if (Buffer.isBuffer(value)) bytes += value.length;
    else bytes += typeof value === 'string' ? Buffer.byteLength(value) : 16;
  }
  return bytes;
}

export function halvesOf<T>(list: T[]): [T[], T[]] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}

/** A smaller request may succeed after a timeout. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof MillraceError && error.code === 'unavailable' && isTimeoutOfDriver(error.cause);

function isTimeoutOfDriver(cause: unknown): boolean {
  if (cause instanceof errors.NoHostAvailableError)
    return Object.values(cause.innerErrors ?? {}).some(isTimeoutOfDriver);
  if (cause instanceof errors.OperationTimedOutError) return true;
  return cause instanceof errors.ResponseError && TIMEOUTS.has(cause.code);
}
