import { MillraceError, refusalText } from '../../common/errors.js';

/** @import { Response } from 'express' */
/** @import { IngestResult } from '../ingest/ingest-result.js' */

/**
 * Answers whoever sent measurements, or had them replayed: 200 when all are stored, else a problem that says which
 * are not. A message that was refused as a whole is a problem of that code.
 *
 * @param {Response} res
 * @param {IngestResult} told
 * @throws {MillraceError} `refused`, or the code of the whole
 */
export function answerResult(res, { accepted, refused }) {
  if (refused.length === 0) return void res.json({ accepted });
  const [first] = refused;
  const details = { accepted, refused };
  if (first?.index !== -1) throw new MillraceError('refused', undefined, { details });
  throw new MillraceError(first.code, refusalText(first) || undefined, { details });
}
