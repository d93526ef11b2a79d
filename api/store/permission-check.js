import cassandra from 'cassandra-driver';
import { MillraceError } from '../../common/errors.js';
import { innerErrors } from './reason.js';

const { errors } = cassandra;

/** Protocol error code (native_protocol_v4.spec, section 9) of what a role may not do. */
const UNAUTHORIZED = 0x2100;

/** @param {unknown} error of the driver */
const refusal = (error) =>
  innerErrors(error).find((one) => one instanceof errors.ResponseError && one.code === UNAUTHORIZED);

/** @param {unknown} error of the driver @returns {boolean} whether it is for lack of a right */
export const isForbidden = (error) => refusal(error) !== undefined;

/**
 * What a role may not do stays so however often it is tried: who has just begun says it, and which command mends it.
 *
 * @param {unknown} error of the driver
 * @param {string | undefined} role
 * @returns {MillraceError | null} null: it is something else
 */
export function missingRight(error, role) {
  const refused = refusal(error);
  if (!refused) return null;
  const reason = /** @type {Error} */ (refused).message;
  return new MillraceError(
    'bad_settings',
    `CQL_USERNAME=${role} has not the rights that it needs: ${reason}. npm run roles gives them.`,
    { cause: error },
  );
}
