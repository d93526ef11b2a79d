import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import { uuidText } from '../../../schema/ids.ts';
import { DAY_MS, DEAD_LETTER_DAYS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  Accepted,
  answerResult,
  audit,
  fields,
  json,
  PAGED,
  REFUSAL_CODES,
  rangeAt,
  readQuery,
} from '../../http/index.ts';
import type { TimeParameter } from '../../http/parameters.ts';
import type { Route } from '../../http/route.ts';
import type { StoredDeadLetter } from '../../store/dead-letters.ts';
import type { Store } from '../../store/index.ts';
import { decodePayload } from './decoded.ts';
import { SCHEMAS } from './schemas.ts';
import type { DeadLetterReads, Range } from './store.ts';

type Deps = Core & { deadLetters: DeadLetterReads };

export const RANGE = {
  from: fields.from.meta({
    description: 'Start of the range, included. Default: 24 hours before `to`.',
  }),
  to: fields.to,
};

export const LIST = {
  limit: fields.limit,
  cursor: fields.cursor,
  ...RANGE,
  device: z.string('the device of a topic').optional().meta({
    description: 'Only dead letters of this device, as their topics name it.',
    example: 'my-desk',
  }),
  code: z.enum(REFUSAL_CODES, 'a code of a refusal').optional().meta({
    description: 'Only dead letters with this code.',
  }),
};

/** End of a page. `before`: id in hexadecimal digits. */
type Position = { from: number; before: string };

export const getDeadLetters =
  ({ deadLetters: table, http: { cursors }, context: { clock } }: Deps): RequestHandler =>
  async (req, res) => {
    const { limit, cursor, device, code, ...given } = readQuery(req, LIST);
    const scope = JSON.stringify(['dead-letters', given.from, given.to, device, code]);
    const position = cursor === undefined ? null : cursors.open<Position>(scope, cursor);
    // The default of `from` depends on the clock, so the cursor holds it. Then it is equal for all pages.
    const range = { ...readRange(given, clock()), ...(position && { from: position.from }) };
    const before = position && Buffer.from(position.before, 'hex');
    const { deadLetters, next } = await table.page(range, { before, limit, device, code });
    res.json({
      items: deadLetters.map(deadLetterItem),
      next: next && cursors.seal(scope, { from: range.from, before: next.toString('hex') }),
    });
  };

export const getDeadLetter =
  ({ store }: Core): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const deadLetter = await findDeadLetter(store, req);
    const { content } = deadLetter;
    res.json({ ...deadLetterItem(deadLetter), decoded: content && decodePayload(content) });
  };

/**
 * `GET /dead-letters/summary`: refused measurements by code and hour, newest first. If the range has too many dead letters for one answer,
 * `from` of the answer is later than requested. The client sends that time as `to` of its next request.
 */
export const getDeadLetterSummary =
  ({ deadLetters: table, context: { clock } }: Deps): RequestHandler =>
  async (req, res) => {
    const range = readRange(readQuery(req, RANGE), clock());
    const { hours, from } = await table.summary(range);
    res.json({
      items: hours.map(({ hour, deadLetters, codes }) => ({
        hour: formatTime(hour),
        dead_letters: deadLetters,
        codes,
      })),
      from: formatTime(from),
      to: formatTime(range.to),
    });
  };

export const postReplay =
  ({ store, ingest, context: { logger } }: Core): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const result = await ingest.replay(await findDeadLetter(store, req));
    audit(logger, res, 'a dead letter was replayed', String(req.params['id']));
    answerResult(res, result);
  };

/** @throws `not_found` */
async function findDeadLetter(store: Store, req: Request): Promise<StoredDeadLetter> {
  const deadLetter = await store.deadLetters.find(String(req.params['id']));
  if (!deadLetter) throw new MillraceError('not_found', 'There is no such dead letter, or it has expired.');
  return deadLetter;
}

/** Cut to the retention of dead letters; default: the last 24 hours. @throws `bad_range` */
function readRange(
  given: { from?: TimeParameter | undefined; to?: TimeParameter | undefined },
  now: number,
): Range {
  const { from, to } = rangeAt(given, now);
  const oldest = now - DEAD_LETTER_DAYS * DAY_MS;
  // The time of a dead letter comes from the process that received the message. Its clock may be ahead.
  const end = Math.max(oldest, Math.min(to ?? Number.POSITIVE_INFINITY, now + MOST_CLOCK_DIFFERENCE_MS));
  const begin = from ?? Math.min(end, now) - DAY_MS;
  return { from: Math.max(oldest, Math.min(begin, end)), to: end };
}

const deadLetterItem = ({ id, receivedAt, device, topic, codes, content }: StoredDeadLetter) => ({
  id: uuidText(id),
  ts: formatTime(receivedAt),
  device,
  topic,
  codes,
  refused: content?.refused ?? null,
  content_type: content?.contentType ?? null,
  size: content?.size ?? null,
  payload_base64: content?.payload.toString('base64') ?? null,
});

export const listDeadLetters: Operation = {
  id: 'listDeadLetters',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'The dead letters, newest first, page by page',
  description:
    'By default those of the last 24 hours. Dead letters are kept for 14 days. With `device` or `code` a page may be short, even empty, before the end.',
  query: LIST,
  answers: { 200: json(SCHEMAS.DeadLetterPage) },
  links: {
    read: { to: 'readDeadLetter', parameters: { id: '$response.body#/items/0/id' } },
    replay: { to: 'replayDeadLetter', parameters: { id: '$response.body#/items/0/id' } },
  },
  problems: [...PAGED, 'bad_range'],
};

export const readDeadLetter: Operation = {
  id: 'readDeadLetter',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'One dead letter, with its payload decoded for people',
  answers: { 200: json(SCHEMAS.DecodedDeadLetter) },
  links: { replay: { to: 'replayDeadLetter', parameters: { id: '$response.body#/id' } } },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

export const summarizeDeadLetters: Operation = {
  id: 'summarizeDeadLetters',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'Counts of refused measurements, by code and hour',
  description:
    '`from` is the start of the counts. If the range has too much for one answer, `from` is later than requested. Use it as the `to` of the next request.',
  query: RANGE,
  answers: { 200: json(SCHEMAS.DeadLetterSummary) },
  problems: ['bad_parameter', 'bad_range', 'unavailable'],
};

export const replayDeadLetter: Operation = {
  id: 'replayDeadLetter',
  tag: 'dead-letters',
  scope: 'admin',
  summary: 'Stores the refused measurements of a dead letter',
  description:
    'Correct the cause first. The API stores only the refused measurements. To repeat a replay is harmless.',
  answers: { 200: json(Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'not_found', 'not_replayable', 'refused', 'unavailable'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/dead-letters', operation: listDeadLetters, handler: getDeadLetters },
  {
    method: 'get',
    path: '/api/v1/dead-letters/summary',
    operation: summarizeDeadLetters,
    handler: getDeadLetterSummary,
  },
  { method: 'get', path: '/api/v1/dead-letters/{id}', operation: readDeadLetter, handler: getDeadLetter },
  {
    method: 'post',
    path: '/api/v1/dead-letters/{id}/replay',
    operation: replayDeadLetter,
    handler: postReplay,
  },
];
