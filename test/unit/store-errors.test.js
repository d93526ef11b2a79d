import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { translate } from '../../api/store/session.js';
import { MillraceError } from '../../common/errors.js';

const { errors, types } = cassandra;
const { responseErrorCodes: codes } = types;

test.each([codes.syntaxError, codes.invalid])('what the server calls bad content is refused: %i', (code) => {
  expect(translate(new errors.ResponseError(code, 'reason'), 'write_samples')).toMatchObject({
    code: 'rejected',
    message: 'write_samples: reason',
  });
});

test.each([
  new errors.ResponseError(codes.writeTimeout, ''),
  new errors.ResponseError(codes.overloaded, ''),
  new errors.ResponseError(codes.unavailableException, ''),
  new errors.ResponseError(codes.unauthorized, ''),
  new errors.NoHostAvailableError({ '127.0.0.1:9042': new TypeError('of a host') }),
  new errors.OperationTimedOutError('late', '127.0.0.1:9042'),
  new errors.BusyConnectionError('127.0.0.1:9042', 2048, 1),
  Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
])('trouble that passes is worth another try: %s', (error) => {
  expect(translate(error, 'write_samples')).toMatchObject({ code: 'unavailable', cause: error });
});

test.each([
  new TypeError('x is not a function'),
  new RangeError('offset'),
  new errors.ArgumentError('query'),
])('a defect is neither: %s', (error) => expect(translate(error, 'write_samples')).toBe(error));

test('an error of ours stays what it is', () => {
  const error = new MillraceError('unavailable', 'the process ends');
  expect(translate(error, 'write_samples')).toBe(error);
});
