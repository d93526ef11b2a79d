import { QUERY } from '../../routes/measurements.js';
import { QUERY as SERIES } from '../../routes/series.js';
import { QUERY as SUBMISSION } from '../../routes/submission.js';
import { json, PAGED } from '../operation.js';
import { PAYLOADS } from '../payloads.js';
import { REFUSAL_CODES } from '../problems.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

/** @type {Operation} */
export const listMeasurements = {
  id: 'listMeasurements',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of a sensor, newest first unless told otherwise, page by page',
  description: `As \`text/csv\` or \`application/x-ndjson\`, by \`Accept\` or by \`format\`, it is the whole range, streamed as a file that is named after
device and sensor, and takes neither \`limit\` nor \`cursor\`.
An export that fails half-way breaks off: what ends as it should is complete.`,
  query: QUERY,
  answers: {
    200: {
      ...json(SCHEMAS.MeasurementPage),
      'text/csv': {
        text: 'A line `ts,value`, then a line for each sample, all ended by a line feed.',
        example: 'ts,value\n2026-11-21T00:00:00.000Z,21.5\n',
      },
      'application/x-ndjson': {
        text: 'A line of JSON for each sample.',
        example: '{"ts":"2026-11-21T00:00:00.000Z","value":21.5}\n',
      },
    },
  },
  problems: [...PAGED, 'busy', 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const readSeries = {
  id: 'readSeries',
  tag: 'measurements',
  scope: 'read',
  summary: "The shape of a sensor's signal, in as many points as fit on a screen",
  description: `One point for each bin that has samples. Bins are of the smallest width of 1, 2, 5, 10, 15, 30 seconds or minutes,
1, 2, 3, 6, 12 hours, 1, 7, 30 days, or a multiple of 30 days, that gives at most \`points\` of them. They begin at whole
multiples of their width since 1970, in UTC; of the first and the last one only what lies in the range counts. \`min\`, \`max\`,
\`avg\` and \`count\` are those of all samples, whatever the width.`,
  query: SERIES,
  answers: { 200: json(SCHEMAS.Series) },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};

/** @type {Operation} */
export const postMeasurements = {
  id: 'postMeasurements',
  tag: 'measurements',
  scope: 'ingest',
  summary: 'Stores measurements of a device',
  description: `Takes what MQTT takes, and answers after the commit. What is refused is told here and makes no dead letter: \`refused\`
lists it by its place in the message, with the path and the rule that failed, and the others are stored. A message refused as a whole is a problem of that code.
After \`busy\`, wait for as long as \`Retry-After\` says.`,
  query: SUBMISSION,
  body: {
    'application/json': PAYLOADS.PlainMeasurements,
    'application/senml+json': PAYLOADS.SenmlPack,
    'application/senml+cbor': { text: 'The same in CBOR (RFC 8428, section 6).' },
  },
  answers: { 200: json(SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'refused', 'busy', 'unavailable'],
};
