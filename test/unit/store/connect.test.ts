import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { explain } from '../../../api/store/connect.ts';
import { isForbidden, missingPermission } from '../../../api/store/setup/permissions.ts';
import { readSettings } from '../../../common/settings/index.ts';

const { errors } = cassandra;
const { cql } = readSettings({ CQL_CONTACT_POINTS: 'db:9042' }, { envFile: '' });

/** @param messages the authentication error of each node */
function explained(...messages: string[]) {
  const causes = messages.map((message, index) => [
    `10.0.0.${index}:9042`,
    new errors.AuthenticationError(message),
  ]);
  return explain(new errors.NoHostAvailableError(Object.fromEntries(causes)), cql);
}

const AWAY = 'Unable to perform authentication: Cannot achieve consistency level QUORUM';
const WRONG = 'Provided username u and/or password are incorrect';

test.each([
  AWAY,
  'Unable to perform authentication: Operation timed out - received only 0 responses.',
  'Cannot achieve consistency level for cl LOCAL_ONE. Requires 1, alive 0',
  'Operation timed out for system.roles - received only 0 responses from 1 CL=LOCAL_ONE.',
  'Could not verify password',
])('Cassandra connection: login fails with %s: reported as database_away', (message) => {
  expect(explained(message)).toMatchObject({
    code: 'database_away',
    message: expect.stringContaining(message),
  });
});

test('Cassandra connection: one node cannot read the accounts, another refuses the password: reported as bad_settings', () => {
  expect(explained(AWAY, WRONG)).toMatchObject({
    code: 'bad_settings',
    message: `The database at db:9042 refuses CQL_USERNAME and CQL_PASSWORD: ${WRONG}`,
  });
});

const away = new errors.NoHostAvailableError({ '127.0.0.1:9043': new Error('connect ECONNREFUSED') });

test.each([
  [{ CQL_LOCAL_PORT: '9043' }, /^No database answers at 127\.0\.0\.1:9043 \(CQL_LOCAL_PORT\): .*DATA_DIR/],
  [{ CQL_CONTACT_POINTS: 'db:9042' }, /^No database answers at db:9042 \(CQL_CONTACT_POINTS\): [^.]*$/],
])('Cassandra connection: %j: the message names what to set', (settings, message) => {
  const { cql } = readSettings(settings, { envFile: '' });
  expect(explain(away, cql)).toMatchObject({
    code: 'database_away',
    message: expect.stringMatching(message),
  });
});

test.each([
  WRONG,
  'Username and/or password are incorrect',
  'u is not permitted to log in',
  'Authentication provider not set',
])('Cassandra connection: login fails with %s: reported as bad_settings', (message) => {
  expect(explained(message)).toMatchObject({
    code: 'bad_settings',
    message: expect.stringContaining(message),
  });
});

test('Cassandra permissions: the role lacks SELECT on a table: reported as bad_settings', () => {
  const error = new errors.ResponseError(0x2100, 'User u has no SELECT permission on <table iot.latest>');
  expect(isForbidden(error)).toBe(true);
  expect(missingPermission(error, 'u')).toMatchObject({ code: 'bad_settings' });
});

test('Cassandra permissions: the database cannot read the permissions: not reported as a missing permission', () => {
  const message = 'Unable to perform authorization of permissions: Cannot achieve consistency level ONE';
  const error = new errors.ResponseError(0x2100, message);
  expect(isForbidden(error)).toBe(false);
  expect(missingPermission(error, 'u')).toBeNull();
});
