import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { translate } from '../../../../api/store/sending/session.ts';
import { MillraceError } from '../../../../common/errors.ts';

const { errors, types } = cassandra;
const { responseErrorCodes: codes } = types;

test.each([codes.syntaxError, codes.invalid])(
  'Cassandra errors: server answers with error code %i: the write is rejected, not retried',
  (code) => {
    expect(translate(new errors.ResponseError(code, 'reason'), 'write_samples')).toMatchObject({
      code: 'rejected',
      message: 'write_samples: reason',
    });
  },
);

test.each([
  new errors.ResponseError(codes.writeTimeout, ''),
  new errors.ResponseError(codes.overloaded, ''),
  new errors.ResponseError(codes.unavailableException, ''),
  new errors.ResponseError(codes.unauthorized, ''),
  new errors.NoHostAvailableError({ '127.0.0.1:9042': new TypeError('of a host') }),
  new errors.OperationTimedOutError('late', '127.0.0.1:9042'),
  new errors.BusyConnectionError('127.0.0.1:9042', 2048, 1),
  Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
])('Cassandra errors: temporary failure: reported as unavailable, so the write is retried: %s', (error) => {
  expect(translate(error, 'write_samples')).toMatchObject({ code: 'unavailable', cause: error });
});

test.each([
  new TypeError('x is not a function'),
  new RangeError('offset'),
  new errors.ArgumentError('query'),
])('Cassandra errors: programming error: passed on unchanged: %s', (error) =>
  expect(translate(error, 'write_samples')).toBe(error),
);

test('Cassandra errors: error that Millrace created: passed on unchanged', () => {
  const error = new MillraceError('unavailable', 'the process ends');
  expect(translate(error, 'write_samples')).toBe(error);
});
