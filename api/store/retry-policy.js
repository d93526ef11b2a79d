import cassandra from 'cassandra-driver';

/** @import { policies as DriverPolicies } from 'cassandra-driver' */

const { errors, policies } = cassandra;

/** Attempts after the first; each ends by a timeout of seconds. */
const ATTEMPTS = 10;

/** @typedef {DriverPolicies.retry.OperationInfo} OperationInfo */

/**
 * For work that nobody waits for to the second and that may be done twice, such as taking the schema lock: a server that
 * is busy is asked again, also where it is the only one. The driver by itself gives up then, and after any lightweight
 * transaction that others kept interrupting (`cas_contention_timeout` of Cassandra, 1.8 s). It asks of writes only where
 * they are idempotent.
 */
export class PatientRetryPolicy extends policies.retry.RetryPolicy {
  /**
   * @override
   * @param {OperationInfo} info
   * @param {number} consistency
   * @param {number} received
   * @param {number} blockFor
   * @param {any} writeType a string, whatever the driver's types say
   */
  onWriteTimeout(info, consistency, received, blockFor, writeType) {
    if (writeType === 'CAS') return this.again(info);
    return super.onWriteTimeout(info, consistency, received, blockFor, writeType);
  }

  /** @override @param {OperationInfo} info */
  onReadTimeout(info) {
    return this.again(info);
  }

  /** @override @param {OperationInfo} info @param {number} consistency @param {Error} error */
  onRequestError(info, consistency, error) {
    if (error instanceof errors.OperationTimedOutError) return this.again(info);
    return super.onRequestError(info, consistency, error);
  }

  /** @param {OperationInfo} info */
  again({ nbRetry }) {
    // As it was sent, on the same node: the defaults, which the driver's types demand to be said.
    return nbRetry < ATTEMPTS ? this.retryResult(/** @type {any} */ (undefined)) : this.rethrowResult();
  }
}
