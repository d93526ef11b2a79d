import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { uuidText } from '../../../schema/ids.js';
import { DAY_MS, DEAD_LETTER_DAYS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.js';
import { answerResult } from '../answer-result.js';
import { audit } from '../audit.js';
import { json, PAGED } from '../contract/operation.js';
import { REFUSAL_CODES } from '../contract/problems.js';
import { SCHEMAS } from '../contract/schemas.js';
import { fields, readQuery } from '../parameters.js';

/** @import { Request, RequestHandler } from 'express' */
/** @import { StoredDeadLetter } from '../../store/dead-letters/dead-letter.js' */
/** @import { Range } from '../../store/dead-letters/reads.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { RouteParts } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

export const RANGE = {
  from: fields.from.meta({
    description: 'Not before this instant; unless given, from 24 hours before `to`.',
  }),
  to: fields.to,
};

export const LIST = { limit: fields.limit, cursor: fields.cursor, ...RANGE };

/**
 * `GET /dead-letters`: what was refused, newest first.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getDeadLetters =
  ({ store, cursors, clock }) =>
  async (req, res) => {
    const { limit, cursor, ...given } = readQuery(req, LIST);
    const scope = JSON.stringify(['dead-letters', given.from, given.to]);
    const place = cursor === undefined ? null : cursors.open(scope, cursor);
    // Where `from` is left to us it goes with the clock, and must not do so from page to page.
    const range = { ...readRange(given, clock()), ...(place && { from: place.from }) };
    const before = place && Buffer.from(place.before, 'hex');
    const { deadLetters, next } = await store.deadLetters.page(range, { before, limit });
    res.json({
      items: deadLetters.map(letterItem),
      next: next && cursors.seal(scope, { from: range.from, before: next.toString('hex') }),
    });
  };

/**
 * `GET /dead-letters/{id}`: one of them.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getDeadLetter =
  ({ store }) =>
  async (req, res) => {
    readQuery(req, {});
    res.json(letterItem(await findLetter(store, req)));
  };

/**
 * `GET /dead-letters/summary`: how much was refused, by code and hour, newest first. `from` is where the counts begin:
 * later than asked for where that is too much for one answer, and then the `to` of the next request.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getDeadLetterSummary =
  ({ store, clock }) =>
  async (req, res) => {
    const range = readRange(readQuery(req, RANGE), clock());
    const { hours, from } = await store.deadLetters.summary(range);
    res.json({
      items: hours.map(({ hour, deadLetters, codes }) => ({
        hour: formatTime(hour),
        letters: deadLetters,
        codes,
      })),
      from: formatTime(from),
      to: formatTime(range.to),
    });
  };

/**
 * `POST /dead-letters/{id}/replay`: stores what was refused, after whatever refused it was mended.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const postReplay =
  ({ store, replay, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const told = await replay(await findLetter(store, req));
    audit(logger, res, 'a dead letter was replayed', String(req.params['id']));
    answerResult(res, told);
  };

/**
 * @param {Store} store
 * @param {Request} req
 * @returns {Promise<StoredDeadLetter>}
 * @throws {MillraceError} `not_found`
 */
async function findLetter(store, req) {
  const letter = await store.deadLetters.find(String(req.params['id']));
  if (!letter) throw new MillraceError('not_found', 'There is no such dead letter, or none any more.');
  return letter;
}

/**
 * The last 24 hours, unless something else is asked for; never more than is kept.
 *
 * @param {{ from?: number | undefined, to?: number | undefined }} given epoch ms
 * @param {number} now epoch ms
 * @returns {Range}
 * @throws {MillraceError} `bad_range`
 */
function readRange({ from, to }, now) {
  if (from !== undefined && to !== undefined && from > to) {
    throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
  }
  const oldest = now - DEAD_LETTER_DAYS * DAY_MS;
  // A letter is stamped by the clock of the process that took the message, which may be ahead of ours.
  const end = Math.max(oldest, Math.min(to ?? Number.POSITIVE_INFINITY, now + MOST_CLOCK_DIFFERENCE_MS));
  const begin = from ?? Math.min(end, now) - DAY_MS;
  return { from: Math.max(oldest, Math.min(begin, end)), to: end };
}

/** @param {StoredDeadLetter} letter */
const letterItem = ({ id, receivedAt, device, topic, codes, content }) => ({
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

/** @type {Operation} */
export const listDeadLetters = {
  id: 'listDeadLetters',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'What was refused, newest first, page by page',
  description: 'Those of the last 24 hours, unless a range is given. They are kept for 14 days.',
  query: LIST,
  answers: { 200: json(SCHEMAS.DeadLetterPage) },
  links: {
    read: { to: 'readDeadLetter', parameters: { id: '$response.body#/items/0/id' } },
    replay: { to: 'replayDeadLetter', parameters: { id: '$response.body#/items/0/id' } },
  },
  problems: [...PAGED, 'bad_range'],
};

/** @type {Operation} */
export const readDeadLetter = {
  id: 'readDeadLetter',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'One message of which something was refused',
  answers: { 200: json(SCHEMAS.DeadLetter) },
  links: { replay: { to: 'replayDeadLetter', parameters: { id: '$response.body#/id' } } },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const summarizeDeadLetters = {
  id: 'summarizeDeadLetters',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'How much was refused, by code and hour',
  description:
    '`from` is where the counts begin. Where that is later than asked for, there was too much for one answer: it is the `to` of the next request.',
  query: RANGE,
  answers: { 200: json(SCHEMAS.DeadLetterSummary) },
  problems: ['bad_parameter', 'bad_range', 'unavailable'],
};

/** @type {Operation} */
export const replayDeadLetter = {
  id: 'replayDeadLetter',
  tag: 'dead-letters',
  scope: 'admin',
  summary: 'Stores what was refused, after its reason was mended',
  description: 'Only what was refused is stored. Doing it twice is harmless.',
  answers: { 200: json(SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'not_found', 'not_replayable', 'refused', 'unavailable'],
};
