import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { BusyServerRetryPolicy } from '../../../api/store/driver-policies.ts';

const { errors, policies } = cassandra;
const { retry, rethrow } = (
  policies.retry.RetryPolicy as unknown as { retryDecision: object & Record<string, number> }
).retryDecision;
const policy = new BusyServerRetryPolicy();

/** @param nbRetry number of earlier retries */
const after = (nbRetry: number) => ({ query: '', executionOptions: {} as never, nbRetry });

test.each([
  [
    'a lightweight transaction that others interrupted',
    (info) => policy.onWriteTimeout(info, 1, 0, 1, 'CAS'),
  ],
  ['a read that took too long', (info) => policy.onReadTimeout(info)],
  ['no answer', (info) => policy.onRequestError(info, 1, new errors.OperationTimedOutError('late', 'node'))],
] as Array<[string, (info: ReturnType<typeof after>) => object]>)(
  'Cassandra driver retry policy: %s: retried on the same node, up to 10 times',
  (_, decide) => {
    expect(decide(after(0))).toEqual({ decision: retry, useCurrentHost: true });
    expect(decide(after(9))).toMatchObject({ decision: retry });
    expect(decide(after(10))).toEqual({ decision: rethrow });
  },
);

test('Cassandra driver retry policy: plain write: not retried after a timeout; after a broken connection on another node', () => {
  expect(policy.onWriteTimeout(after(0), 1, 0, 1, 'SIMPLE')).toEqual({ decision: rethrow });
  expect(policy.onRequestError(after(0), 1, new Error('reset'))).toMatchObject({ useCurrentHost: false });
});
