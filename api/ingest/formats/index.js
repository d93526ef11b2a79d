import { MillraceError } from '../../../common/errors.js';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.js';
import { readPlain } from './json.js';
import { readSenml } from './senml-json.js';

const SENML_JSON = 'application/senml+json';
const JSON_TYPES = new Set(['application/json', 'text/json']);

// Labels of SenML that plain JSON does not have (RFC 8428, table 1).
const SENML_LABELS = ['n', 'v', 'bn', 'bt', 'vb', 'vs', 'vd', 'bver', 's', 'bv', 'bs', 'bu', 'u', 't'];

/**
 * Reads a payload into the basket: by its content type, else by its shape.
 *
 * @param {Buffer} payload
 * @param {string | undefined} contentType as MQTT 5 or HTTP carry it
 * @param {import('../basket.js').Basket} basket
 * @throws {MillraceError} `malformed`, `unknown_format`, `too_large`: for the message as a whole
 */
export function decode(payload, contentType, basket) {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type && type !== SENML_JSON && !JSON_TYPES.has(type)) {
    throw new MillraceError('unknown_format', `no decoder for ${type}: send JSON or SenML JSON`);
  }
  if (!type && !looksLikeJson(payload)) {
    throw new MillraceError('unknown_format', 'the payload begins like no format that is known');
  }
  const content = parseJson(payload);
  const elements = Array.isArray(content) ? content : [content];
  if (elements.length > MAX_SAMPLES_PER_MESSAGE) {
    throw new MillraceError(
      'too_large',
      `${elements.length} samples; ${MAX_SAMPLES_PER_MESSAGE} are the most`,
    );
  }
  if (type === SENML_JSON || (Array.isArray(content) && isSenml(elements[0]))) readSenml(elements, basket);
  else readPlain(elements, basket);
}

/** @param {Buffer} payload @returns {unknown} an object or an array */
function parseJson(payload) {
  let content;
  try {
    content = JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new MillraceError('malformed', /** @type {Error} */ (error).message, { cause: error });
  }
  if (content === null || typeof content !== 'object') {
    throw new MillraceError('malformed', 'an object or an array of them is expected');
  }
  return content;
}

/** @param {Buffer} payload */
function looksLikeJson(payload) {
  for (const byte of payload) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    // A letter, a digit, a quote: text that is no measurement, yet somebody's attempt at JSON.
    return byte >= 0x20 && byte < 0x7f;
  }
  return true;
}

/** @param {unknown} element */
const isSenml = (element) =>
  element !== null &&
  typeof element === 'object' &&
  !('sensor_id' in element) &&
  SENML_LABELS.some((label) => label in element);
