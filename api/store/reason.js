import cassandra from 'cassandra-driver';

const { errors } = cassandra;

/**
 * @param {unknown} error of the driver
 * @returns {unknown[]} where no node answered, what each of them had to say; else the error itself
 */
export const innerErrors = (error) =>
  error instanceof errors.NoHostAvailableError ? Object.values(error.innerErrors ?? {}) : [error];

/**
 * The driver's own message of a request that no node answered holds the stack of the first one.
 *
 * @param {unknown} error of the driver
 * @returns {string} one line
 */
export function reasonOf(error) {
  const reasons = innerErrors(error).map((one) => (one instanceof Error ? one.message : String(one)));
  return [...new Set(reasons)].join('; ') || 'no node of the cluster is known to be up';
}
