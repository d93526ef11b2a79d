import cassandra from 'cassandra-driver';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import { innerErrors } from '../error-reason.ts';

const { errors } = cassandra;

/** Protocol error code (native_protocol_v4.spec, section 9) for a missing permission. */
const UNAUTHORIZED = 0x2100;

/** Message of Cassandra if it could not read the permissions. The error has the same code as a missing permission. */
const PERMISSIONS_AWAY = /^unable to perform authorization/i;

const refusal = (error: unknown) =>
  innerErrors(error).find(
    (inner) =>
      inner instanceof errors.ResponseError &&
      inner.code === UNAUTHORIZED &&
      !PERMISSIONS_AWAY.test(inner.message),
  );

export const isForbidden = (error: unknown): boolean => refusal(error) !== undefined;

/**
 * Names the command that grants the permission. A retry cannot help, so a starting process reports this error and ends.
 * @returns null: the error is no missing permission
 */
export function missingPermission(error: unknown, role: string | undefined): MillraceError | null {
  const refused = refusal(error);
  if (!refused) return null;
  const reason = messageOf(refused);
  return new MillraceError(
    'bad_settings',
    `CQL_USERNAME=${role} has not the rights that it needs: ${reason}. npm run roles gives them.`,
    { cause: error },
  );
}
