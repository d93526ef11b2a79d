import { MillraceError } from '../../../common/errors.ts';

/** Makes the error of a query that Millrace cannot answer. */
export const badQuery = (reason: string) => new MillraceError('bad_parameter', reason);
