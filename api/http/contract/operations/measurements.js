import { QUERY } from '../../routes/measurements.js';
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
  summary: 'The samples of a sensor, newest first unless told otherwise, page by page',
  query: QUERY,
  answers: { 200: json(SCHEMAS.MeasurementPage) },
  problems: [...PAGED, 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const postMeasurements = {
  id: 'postMeasurements',
  tag: 'measurements',
  summary: 'Stores measurements of a device',
  description: `Takes what MQTT takes, and answers after the commit. What is refused is told here and makes no dead letter: \`refused\`
lists it by its place in the message, and the others are stored. A message refused as a whole is a problem of that code.
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
