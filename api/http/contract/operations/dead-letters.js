import { LIST, RANGE } from '../../routes/dead-letters.js';
import { json, PAGED } from '../operation.js';
import { REFUSAL_CODES } from '../problems.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

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
