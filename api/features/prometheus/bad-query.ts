import { MillraceError } from '../../../common/errors.ts';

export const badQuery = (reason: string) => new MillraceError('bad_parameter', reason);
