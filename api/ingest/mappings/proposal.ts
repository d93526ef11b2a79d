import { stringify } from 'yaml';
import { decodeReplacing } from '../../../common/encodings.js';
import { nameOfParts } from '../../../schema/sensor-names.js';
import { brokenArrayRule } from '../decode/json.js';
import { expandPreset, readPresets } from './file.js';
import { Mapping } from './mapping.js';
import { isReserved } from './pattern.js';
import { pointerText, visitValues } from './pointer.js';

/** @import { Preset } from './file.js' */

/** Limit of values that a proposal lists one by one. With more values, the proposal reads all values with `all`. */
const MAX_VALUES = 12;

/** Members that usually have the time of a message, in the order of preference. */
const TIMES = ['ts', 'time', 'timestamp', 'Time', 'date', 'datetime', 'created_at', 'received_at', 'epoch'];

/** Matches topic levels that are probably a kind of message, and not the name of a device. */
const WORDS =
  /^(?:tele|stat|cmnd|state|status|sensors?|data|up|uplink|events?|telemetry|measurements?|values?|json|info|readings?|v\d+|home|mqtt|devices?|rooms?|temperature|humidity|pressure|power|energy|voltage|current|battery|co2|light|level)$/i;

/** Matches topic levels that are probably the name of a quantity. */
const QUANTITIES =
  /^(?:temperature|temp|humidity|hum|pressure|power|energy|voltage|current|battery|co2|pm\d+|lux|light|level|rssi|flow|speed|weight|distance)$/i;

/** Ranges of epoch seconds and epoch milliseconds from 2001 to 2286. */
const SECONDS = { min: 1e9, max: 1e10 };
const MILLISECONDS = { min: 1e12, max: 1e13 };

/** @type {Array<{ preset: Preset, mappings: Mapping[] }> | null} read at the first proposal */
let presets = null;

/**
 * A topic that no mapping reads. `payload`: the newest payload, or only its beginning.
 *
 * @typedef {{ topic: string, payload: Buffer }} Unmatched
 */

/**
 * The probable meaning of the levels of a topic. `device`: index of the level with the device. `quantity`: text of the
 * last level, if it names a quantity; else null.
 *
 * @typedef {{ levels: string[], content: unknown, pattern: string, device: number, quantity: string | null }} Guess
 */

/**
 * Proposes an entry for the file of mappings.
 *
 * @param {string} topic topic that no mapping reads
 * @param {Buffer} payload the newest payload of the topic, or only its beginning
 * @returns {string | null} YAML; null: no mapping may use this topic
 */
export const proposeMapping = (topic, payload) => proposeMappings([{ topic, payload }])[0] ?? null;

/**
 * Proposes entries for the file of mappings. Messages with the same topic pattern get the same entry, which reads all
 * these messages, because a file uses only the first entry with a pattern.
 *
 * @param {Unmatched[]} messages
 * @returns {Array<string | null>} YAML for each message; null: no mapping may use the topic
 */
export function proposeMappings(messages) {
  /** @type {Map<string, Guess[]>} */
  const groups = new Map();
  const found = messages.map(({ topic, payload }) => {
    const preset = presetFor(topic);
    if (preset) return stringify({ mappings: [{ use: preset }] });
    const guess = guessFor(topic, payload);
    if (guess === null) return null;
    // One entry cannot read arrays and other payloads.
    const key = Array.isArray(guess.content) ? topic : guess.pattern;
    groups.set(key, [...(groups.get(key) ?? []), guess]);
    return key;
  });
  const entries = new Map(Array.from(groups, ([key, group]) => [key, entryFor(group)]));
  return found.map((each) => (each === null ? null : (entries.get(each) ?? each)));
}

/** @param {string} topic */
const isUsable = (topic) => !isReserved(topic) && !topic.endsWith('…') && !/[+#{}\p{Cc}]/u.test(topic);

/** @param {string} topic @returns {string | undefined} name of the preset that reads the topic */
function presetFor(topic) {
  if (!isUsable(topic)) return undefined;
  presets ??= readPresets().map((preset) => ({
    preset,
    mappings: expandPreset(preset).map((spec) => new Mapping(spec)),
  }));
  const levels = topic.split('/');
  return presets.find(({ mappings }) => mappings.some((mapping) => mapping.match(levels)))?.preset.name;
}

/** @param {string} topic @param {Buffer} payload @returns {Guess | null} */
function guessFor(topic, payload) {
  const levels = topic.split('/');
  if (!isUsable(topic) || levels.length < 2) return null;
  const last = levels.length - 1;
  const hasQuantity = levels.length > 2 && QUANTITIES.test(/** @type {string} */ (levels[last]));
  const device = deviceLevel(hasQuantity ? levels.slice(0, last) : levels);
  const quantity = hasQuantity ? /** @type {string} */ (levels[last]) : null;
  const pattern = patternOf(levels, device, hasQuantity);
  return { levels, content: parse(payload), pattern, device, quantity };
}

/** @param {string[]} levels @param {number} device @param {boolean} hasSensor whether the last level names the sensor */
const patternOf = (levels, device, hasSensor) =>
  levels
    .map((level, index) => {
      if (index === device) return '{device}';
      return hasSensor && index === levels.length - 1 ? '{sensor}' : level;
    })
    .join('/');

/** @param {Guess[]} group topics with one pattern @returns {string} YAML of the entry that reads all these topics */
function entryFor(group) {
  const [{ levels, device, quantity, pattern }] = /** @type {[Guess]} */ (group);
  const contents = group.map(({ content }) => content);
  const isBare = (/** @type {unknown} */ content) => content === null || typeof content !== 'object';
  const areObjects = !contents.some(isBare);
  // The keys of objects name the sensors. So the topic level with the quantity is not needed as a name.
  const isOwn = areObjects && group.every((guess) => guess.quantity === quantity);
  const topic = isOwn ? patternOf(levels, device, false) : pattern;
  const areBare = contents.every(isBare);
  const isMixed = !areBare && !(quantity === null ? areObjects : isOwn);
  const members = contents.some(Array.isArray)
    ? listFor(/** @type {unknown[]} */ (contents[0]))
    : valuesFor(contents, {
        quantity: isOwn ? quantity : null,
        hasSensor: topic.includes('{sensor}'),
        isMixed,
      });
  return stringify({ mappings: [{ name: nameFor(topic), topic, ...members }] }, { lineWidth: 0 });
}

/** @param {string[]} levels @returns {number} index of the level that is probably the device */
function deviceLevel(levels) {
  const candidates = levels.flatMap((level, index) =>
    index > 0 && level !== '' && !WORDS.test(level) ? [index] : [],
  );
  return (
    candidates.find((index) => /\d/.test(/** @type {string} */ (levels[index]))) ?? candidates.at(-1) ?? 1
  );
}

/**
 * Returns a name for the proposed entry. Each pattern gets its own name, so that a file can have several proposals.
 *
 * @param {string} pattern
 * @returns {string}
 */
const nameFor = (pattern) =>
  pattern
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-$/, '') || 'mapping';

/**
 * @param {unknown[]} contents parsed payloads; no payload is an array
 * @param {{ quantity: string | null, hasSensor: boolean, isMixed: boolean }} topic `hasSensor`: the topic names the sensor. `isMixed`:
 *   the payloads have different forms
 * @returns {Record<string, unknown>} members of the proposed entry
 */
function valuesFor(contents, { quantity, hasSensor, isMixed }) {
  /** @type {Array<{ tokens: string[], value: unknown }>} */
  const found = [];
  for (const content of contents) found.push(...valuesIn(content));
  const time = timeIn(found);
  const timePath = time?.tokens.join('.');
  const values = found.filter(
    ({ tokens, value }) => tokens.join('.') !== timePath && (isValue(value) || tokens.length === 0),
  );
  const places = new Map(values.map(({ tokens }) => [pointerText(tokens), tokens]));
  const isShort = places.size > 0 && places.size <= MAX_VALUES;
  const texts = values.filter(({ value }) => isNumberAsText(value)).map(({ tokens }) => tokens.join('.'));
  const all = {
    all: '',
    ...(timePath !== undefined && { ignore: [timePath] }),
    ...(texts.length > 0 && { numbers: texts.includes('') ? 'text' : [...new Set(texts)] }),
  };
  return {
    ...(time ? { time: time.spec } : {}),
    ...wordsFor(values.map(({ value }) => value)),
    values:
      isShort && !isMixed
        ? Array.from(places, ([pointer, tokens]) => ({
            pointer,
            ...(hasSensor
              ? {}
              : { sensor: sensorFor(tokens, places.size === 1 ? quantity : null, quantity) }),
            ...(texts.includes(tokens.join('.')) && { numbers: 'text' }),
          }))
        : [all],
  };
}

/**
 * Proposes the name of a sensor.
 *
 * @param {string[]} tokens path of the value
 * @param {string | null} only quantity of the topic, if the payload has no other value
 * @param {string | null} quantity quantity of the topic
 * @returns {string}
 */
function sensorFor(tokens, only, quantity) {
  const path = nameOfParts(tokens).replaceAll(/[{}]/g, '');
  if (only !== null) return only;
  const isPlain = quantity === null || tokens.some((token) => QUANTITIES.test(token));
  return (isPlain ? path : `${quantity}.${path}`) || 'value';
}

/** @param {unknown[]} content an array of measurements @returns {Record<string, unknown>} */
function listFor([first]) {
  const found = valuesIn(first);
  const time = timeIn(found);
  const name = found.find(({ value }) => typeof value === 'string' && !isValue(value) && value !== '');
  const values = found.filter(({ tokens, value }) => tokens !== time?.tokens && isValue(value));
  const isNamed = name !== undefined && values.length === 1;
  const sensor = { sensor: isNamed ? { pointer: pointerText(name.tokens) } : '{path}' };
  return {
    each: '',
    ...(time ? { time: time.spec } : {}),
    values:
      values.length === 0
        ? [{ all: '' }]
        : values.slice(0, MAX_VALUES).map(({ tokens, value }) => ({
            pointer: pointerText(tokens),
            ...sensor,
            ...(isNumberAsText(value) && { numbers: 'text' }),
          })),
  };
}

/** @param {unknown} content @returns {Array<{ tokens: string[], value: unknown }>} */
function valuesIn(content) {
  /** @type {Array<{ tokens: string[], value: unknown }>} */
  const found = [];
  visitValues(
    content,
    (tokens, value) => found.push({ tokens, value }),
    (_, array) => brokenArrayRule(array) !== null,
  );
  return found;
}

/** @param {Buffer} payload @returns {unknown} undefined: the payload is no JSON, or cut off */
function parse(payload) {
  let text = '';
  try {
    text = decodeReplacing(payload).text.trim();
    return JSON.parse(text);
  } catch {
    return /^[[{]/.test(text) ? {} : text;
  }
}

const SWITCH = /^(?:on|off|open|closed|online|offline)$/i;

/** @param {unknown} value @returns {boolean} whether the value is a text such as "21.5", and no id such as "0012" or "1e5" */
const isNumberAsText = (value) => typeof value === 'string' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);

/** @param {unknown} value */
const isValue = (value) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  isNumberAsText(value) ||
  (typeof value === 'string' && SWITCH.test(value));

/** @param {unknown[]} values @returns {{ words?: Record<string, number> }} words such as `on` among the values, with their opposites */
function wordsFor(values) {
  /** @type {Record<string, number>} */
  const words = {};
  for (const value of values) {
    if (typeof value !== 'string' || !SWITCH.test(value)) continue;
    for (const pair of [
      ['on', 'off'],
      ['open', 'closed'],
      ['online', 'offline'],
    ]) {
      if (!pair.includes(value.toLowerCase())) continue;
      for (const [index, word] of pair.entries()) words[inCaseOf(value, word)] = 1 - index;
    }
  }
  return Object.keys(words).length > 0 ? { words } : {};
}

/** @param {string} given @param {string} word @returns {string} `word` in the upper or lower case of `given` */
function inCaseOf(given, word) {
  if (given === given.toUpperCase()) return word.toUpperCase();
  return given === given.toLowerCase() ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** @param {Array<{ tokens: string[], value: unknown }>} found @returns {{ tokens: string[], spec: unknown } | null} */
function timeIn(found) {
  for (const name of TIMES) {
    const place = found.find(({ tokens }) => tokens.at(-1) === name);
    if (!place) continue;
    const pointer = pointerText(place.tokens);
    const { value } = place;
    const number = Number(value);
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) {
      const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(value);
      return { tokens: place.tokens, spec: hasZone ? pointer : { pointer, zone: 'required' } };
    }
    if (number >= MILLISECONDS.min && number < MILLISECONDS.max)
      return { tokens: place.tokens, spec: pointer };
    if (number >= SECONDS.min && number < SECONDS.max)
      return { tokens: place.tokens, spec: { pointer, unit: 's' } };
  }
  return null;
}
