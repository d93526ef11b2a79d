import { json } from '../operation.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

/** @type {Operation} */
export const readFleet = {
  id: 'readFleet',
  tag: 'devices',
  scope: 'read',
  summary: 'How many devices and sensors there are',
  description:
    'Counted at most 10 s ago. Sensors without a type, or a site, are in none of these; of more than 1,000 types, or sites, those with most sensors are told.',
  answers: { 200: json(SCHEMAS.Fleet) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readPipeline = {
  id: 'readPipeline',
  tag: 'operation',
  scope: 'read',
  summary: 'What runs, and how it is',
  description: `Each process tells every 10 s how it is, and what it did in the five seconds before. One that ends takes its row away; one that
died is \`stale\` after 30 s, and forgotten after an hour. \`database\` is as this process sees it; \`broker\` what one of the
processes says of it, one that is in trouble before others. History before \`packed_until\` is packed.`,
  answers: { 200: json(SCHEMAS.Pipeline) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readRecentStats = {
  id: 'readRecentStats',
  tag: 'operation',
  scope: 'read',
  summary: 'What the pipeline did in the last five minutes',
  description:
    'The `stats` of `/stream`, one a second, the oldest first, by what the process that answers has heard since it started.',
  answers: { 200: json(SCHEMAS.RecentStats) },
  problems: ['bad_parameter'],
};
