import { MillraceError } from '../../../common/errors.js';

/** Makes the error of a query that Millrace cannot answer. @param {string} reason */
export const badQuery = (reason) => new MillraceError('bad_parameter', reason);
