import cassandra from 'cassandra-driver';

const { errors } = cassandra;

/** Returns the errors of all nodes if no node answered; otherwise only the error itself. */
export const innerErrors = (error: unknown): unknown[] =>
  error instanceof errors.NoHostAvailableError ? Object.values(error.innerErrors ?? {}) : [error];

/** Returns one line. If no node answered, the driver's own message would contain the stack trace of the first error. */
export function reasonOf(error: unknown): string {
  const reasons = innerErrors(error).map((inner) => (inner instanceof Error ? inner.message : String(inner)));
  return [...new Set(reasons)].join('; ') || 'no node of the cluster is known to be up';
}
