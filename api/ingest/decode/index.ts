import { encodingOf } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { parseJson, readPlain } from './json.ts';
import { NameCache } from './json-cursor.ts';
import { MessageBatch } from './message-batch.ts';
import { PATHS, refusalOf } from './refusals.ts';
import { readCommonSenml, readSenml } from './senml.ts';
import { isSelfDescribed, parseSenmlCbor } from './senml-cbor.ts';
import { isSensorMap, readSensorMaps } from './sensor-map.ts';

export { brokenArrayRule, parseJsonText } from './json.ts';
export { timeRefusal } from './message-batch.ts';
export { pathsOf, refusalOf, ruleOf } from './refusals.ts';
export { parseSenmlCbor } from './senml-cbor.ts';

/** Plain JSON does not have these (RFC 8428, table 1). */
const SENML_LABELS = ['n', 'v', 'bn', 'bt', 'vb', 'vs', 'vd', 'bver', 'bv', 'bs', 'bu'];

/** Also common names of sensors. A SenML record has a name or a value, or sets a base field, so these alone make none. */
const AMBIGUOUS_LABELS = ['s', 't', 'u'];

const BY_TYPE: Map<string, (payload: Buffer, batch: MessageBatch, contentType?: string) => void> = new Map([
  ['application/json', readJson],
  ['text/json', readJson],
  ['application/senml+json', readSenmlJson],
  ['application/senml+cbor', readCbor],
  ['application/cbor', readCbor],
]);

export class MessageDecoder {
  #historyMs;
  #maxClockSkewMs;
  #relative;
  #unitMs;
  #names = new NameCache();

  constructor({
    historyMs,
    maxClockSkewMs,
    relativeTimes,
    tsUnitMs = 1,
  }: { historyMs: number; maxClockSkewMs: number; relativeTimes: boolean; tsUnitMs?: number }) {
    this.#historyMs = historyMs;
    this.#maxClockSkewMs = maxClockSkewMs;
    this.#relative = relativeTimes;
    this.#unitMs = tsUnitMs;
  }

  /**
   * The limits of age and clock skew count from `now`, and not from the receipt (for a replay). A message that is refused
   * as a whole has one refusal, with index -1.
   */
  decode(
    payload: Buffer,
    contentType: string | undefined,
    receivedAt: number,
    now: number = receivedAt,
  ): MessageBatch {
    const batch = this.emptyBatch(receivedAt, now);
    try {
      decode(payload, contentType, batch);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      batch.clear();
      batch.refused.push(refusalOf(error.code, error));
    }
    return batch;
  }

  emptyBatch(receivedAt: number, now: number = receivedAt) {
    const rules = {
      receivedAt,
      oldest: now - this.#historyMs,
      newest: now + this.#maxClockSkewMs,
      relative: this.#relative,
      unitMs: this.#unitMs,
    };
    return new MessageBatch(rules, this.#names);
  }
}

/**
 * Without a content type the first bytes select the format.
 * @throws `malformed`, `unknown_format`, `too_large`: the message as a whole is refused
 */
export function decode(payload: Buffer, contentType: string | undefined, batch: MessageBatch) {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  const read = type ? BY_TYPE.get(type) : byShape(payload);
  if (!read) {
    throw new MillraceError(
      'unknown_format',
      type ? `no decoder for ${type}` : 'the payload begins like no known format',
    );
  }
  read(payload, batch, contentType);
}

function readJson(payload: Buffer, batch: MessageBatch, contentType?: string) {
  if (readCommonSenml(payload, batch)) return;
  batch.clear();
  const content = parseJson(payload, contentType);
  const elements = limited(elementsOf(content));
  if (Array.isArray(content) && isSenmlPack(elements)) readSenml(elements, batch);
  else if (isSensorMap(elements[0])) readSensorMaps(elements, batch, Array.isArray(content));
  else {
    batch.pathOf = Array.isArray(content) ? PATHS.array : PATHS.object;
    readPlain(elements, batch);
  }
}

function readSenmlJson(payload: Buffer, batch: MessageBatch, contentType?: string) {
  if (readCommonSenml(payload, batch)) return;
  batch.clear();
  readSenml(limited(packOf(parseJson(payload, contentType))), batch);
}

function readCbor(payload: Buffer, batch: MessageBatch) {
  readSenml(limited(parseSenmlCbor(payload)), batch);
}

const elementsOf = (content: object): unknown[] => (Array.isArray(content) ? content : [content]);

/** RFC 8428, section 4 */
function packOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  throw new MillraceError('malformed', 'must be an array of SenML records');
}

function limited(elements: unknown[]) {
  if (elements.length <= MAX_SAMPLES_PER_MESSAGE) return elements;
  throw new MillraceError('too_large', `${elements.length} samples; ${MAX_SAMPLES_PER_MESSAGE} are the most`);
}

function byShape(payload: Buffer) {
  const first = payload.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  // A printable character, or an empty payload: the sender probably tried to send JSON.
  if (first === undefined || (first >= 0x20 && first < 0x7f)) return readJson;
  // An array in CBOR begins with 0x80 to 0x9f (RFC 8949, section 3.1), which no text does.
  if ((first >= 0x80 && first <= 0x9f) || isSelfDescribed(payload)) return readCbor;
  return encodingOf(payload).isShown ? readJson : undefined;
}

const isSenmlPack = ([first, ...others]: unknown[]) =>
  hasLabel(first, SENML_LABELS) ||
  (hasLabel(first, AMBIGUOUS_LABELS) && others.some((element) => hasLabel(element, SENML_LABELS)));

const hasLabel = (element: unknown, labels: string[]) =>
  element !== null &&
  typeof element === 'object' &&
  !('sensor_id' in element) &&
  labels.some((label) => label in element);
