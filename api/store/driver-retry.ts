import cassandra from 'cassandra-driver';

/** @import { policies as DriverPolicies } from 'cassandra-driver' */

const { errors, policies } = cassandra;

/** Limit of repetitions of a request. After the limit the request fails. Each attempt may take seconds, until its timeout. */
const MAX_RETRIES = 10;

/** @typedef {DriverPolicies.retry.OperationInfo} OperationInfo */

/**
 * Retries requests that a busy server did not answer, even if the installation has only one server. The policy is for
 * idempotent work without a deadline, such as taking the schema lock. The driver's own policy gives up if the only
 * server is busy. It also gives up if a lightweight transaction times out because of concurrent transactions
 * (`cas_contention_timeout` of Cassandra, 1.8 s). The driver calls the policy for a write only if the write is
 * idempotent.
 */
export class BusyServerRetryPolicy extends policies.retry.RetryPolicy {
  /**
   * @override
   * @param {OperationInfo} info
   * @param {number} consistency
   * @param {number} received
   * @param {number} blockFor
   * @param {any} writeType a string, contrary to the driver's types
   */
  onWriteTimeout(info, consistency, received, blockFor, writeType) {
    if (writeType === 'CAS') return this.#retry(info);
    return super.onWriteTimeout(info, consistency, received, blockFor, writeType);
  }

  /** @override @param {OperationInfo} info */
  onReadTimeout(info) {
    return this.#retry(info);
  }

  /** @override @param {OperationInfo} info @param {number} consistency @param {Error} error */
  onRequestError(info, consistency, error) {
    if (error instanceof errors.OperationTimedOutError) return this.#retry(info);
    return super.onRequestError(info, consistency, error);
  }

  /** @param {OperationInfo} info */
  #retry({ nbRetry }) {
    // `undefined` means the default: the same node and the same consistency. The driver's types require an argument.
    return nbRetry < MAX_RETRIES ? this.retryResult(/** @type {any} */ (undefined)) : this.rethrowResult();
  }
}
