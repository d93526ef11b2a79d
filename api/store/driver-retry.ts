import type { policies as DriverPolicies, types } from 'cassandra-driver';
import cassandra from 'cassandra-driver';

const { errors, policies } = cassandra;

/** Each attempt may take seconds, until its timeout. */
const MAX_RETRIES = 10;

type OperationInfo = DriverPolicies.retry.OperationInfo;

/**
 * For idempotent work without a deadline, such as taking the schema lock. The driver's own policy gives up if the only server is busy. It
 * also gives up if a lightweight transaction times out because of concurrent transactions (`cas_contention_timeout` of Cassandra, 1.8 s).
 * The driver calls the policy for a write only if the write is idempotent.
 */
export class BusyServerRetryPolicy extends policies.retry.RetryPolicy {
  override onWriteTimeout(
    info: OperationInfo,
    consistency: number,
    received: number,
    blockFor: number,
    writeType: string,
  ) {
    if (writeType === 'CAS') return this.#retry(info);
    return super.onWriteTimeout(info, consistency, received, blockFor, writeType);
  }

  override onReadTimeout(info: OperationInfo) {
    return this.#retry(info);
  }

  override onRequestError(info: OperationInfo, consistency: number, error: Error) {
    if (error instanceof errors.OperationTimedOutError) return this.#retry(info);
    return super.onRequestError(info, consistency, error);
  }

  #retry({ nbRetry }: OperationInfo) {
    // `undefined` means the default: the same node and the same consistency. The driver's types require an argument.
    return nbRetry < MAX_RETRIES
      ? this.retryResult(undefined as unknown as types.consistencies)
      : this.rethrowResult();
  }
}
