import { stringify } from 'yaml';
import { decodeReplacing } from '../../../common/encodings.ts';
import { nameOfParts } from '../../../schema/sensor-names.ts';
import { brokenArrayRule } from '../../ingest/decode/index.ts';
import { expandPreset, type Preset, readPresets } from './file.ts';
import { Mapping } from './mapping.ts';
import { isReserved } from './pattern.ts';
import { pointerText, visitValues } from './pointer.ts';

/** With more values, the proposal reads all values with `all`. */
const MAX_VALUES = 12;

/** Members that usually have the time, in the order of preference. */
const TIMES = ['ts', 'time', 'timestamp', 'Time', 'date', 'datetime', 'created_at', 'received_at', 'epoch'];

/** Levels that are probably a kind of message, and not the name of a device. */
const WORDS =
  /^(?:tele|stat|cmnd|state|status|sensors?|data|up|uplink|events?|telemetry|measurements?|values?|json|info|readings?|v\d+|home|mqtt|devices?|rooms?|temperature|humidity|pressure|power|energy|voltage|current|battery|co2|light|level)$/i;

/** Levels that are probably the name of a quantity. */
const QUANTITIES =
  /^(?:temperature|temp|humidity|hum|pressure|power|energy|voltage|current|battery|co2|pm\d+|lux|light|level|rssi|flow|speed|weight|distance)$/i;

/** Epoch times from 2001 to 2286. */
const SECONDS = { min: 1e9, max: 1e10 };
const MILLISECONDS = { min: 1e12, max: 1e13 };

/** read at the first proposal */
let presets: Array<{ preset: Preset; mappings: Mapping[] }> | null = null;

/** `payload`: the newest, or only its beginning */
type Unmatched = { topic: string; payload: Buffer };

/** `device`: index of the level with the device; `quantity`: text of the last level, if it names a quantity */
type Guess = { levels: string[]; content: unknown; pattern: string; device: number; quantity: string | null };

/** Returns YAML, or null if no mapping may use this topic. */
export const proposeMapping = (topic: string, payload: Buffer): string | null =>
  proposeMappings([{ topic, payload }])[0] ?? null;

/**
 * Messages with the same topic pattern get the same entry, which reads all of them, because a file uses only the first
 * entry with a pattern. Returns YAML for each message.
 */
export function proposeMappings(messages: Unmatched[]): Array<string | null> {
  const groups: Map<string, Guess[]> = new Map();
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

const isUsable = (topic: string) =>
  !isReserved(topic) && !topic.endsWith('…') && !/[+#{}\p{Cc}]/u.test(topic);

function presetFor(topic: string): string | undefined {
  if (!isUsable(topic)) return undefined;
  presets ??= readPresets().map((preset) => ({
    preset,
    mappings: expandPreset(preset).map((spec) => new Mapping(spec)),
  }));
  const levels = topic.split('/');
  return presets.find(({ mappings }) => mappings.some((mapping) => mapping.match(levels)))?.preset.name;
}

function guessFor(topic: string, payload: Buffer): Guess | null {
  const levels = topic.split('/');
  if (!isUsable(topic) || levels.length < 2) return null;
  const last = levels.length - 1;
  const hasQuantity = levels.length > 2 && QUANTITIES.test(levels[last] as string);
  const device = deviceLevel(hasQuantity ? levels.slice(0, last) : levels);
  const quantity = hasQuantity ? (levels[last] as string) : null;
  const pattern = patternOf(levels, device, hasQuantity);
  return { levels, content: parse(payload), pattern, device, quantity };
}

/** `hasSensor`: the last level names the sensor */
const patternOf = (levels: string[], device: number, hasSensor: boolean) =>
  levels
    .map((level, index) => {
      if (index === device) return '{device}';
      return hasSensor && index === levels.length - 1 ? '{sensor}' : level;
    })
    .join('/');

/** YAML of the entry that reads all topics of the group, which have one pattern. */
function entryFor(group: Guess[]): string {
  const [{ levels, device, quantity, pattern }] = group as [Guess];
  const contents = group.map(({ content }) => content);
  const isBare = (content: unknown) => content === null || typeof content !== 'object';
  const areObjects = !contents.some(isBare);
  // The keys of objects name the sensors. So the topic level with the quantity is not needed as a name.
  const isOwn = areObjects && group.every((guess) => guess.quantity === quantity);
  const topic = isOwn ? patternOf(levels, device, false) : pattern;
  const areBare = contents.every(isBare);
  const isMixed = !areBare && !(quantity === null ? areObjects : isOwn);
  const members = contents.some(Array.isArray)
    ? listFor(contents[0] as unknown[])
    : valuesFor(contents, {
        quantity: isOwn ? quantity : null,
        hasSensor: topic.includes('{sensor}'),
        isMixed,
      });
  return stringify({ mappings: [{ name: nameFor(topic), topic, ...members }] }, { lineWidth: 0 });
}

function deviceLevel(levels: string[]): number {
  const candidates = levels.flatMap((level, index) =>
    index > 0 && level !== '' && !WORDS.test(level) ? [index] : [],
  );
  return candidates.find((index) => /\d/.test(levels[index] as string)) ?? candidates.at(-1) ?? 1;
}

/** Each pattern gets its own name, so that a file can have several proposals. */
const nameFor = (pattern: string): string =>
  pattern
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-$/, '') || 'mapping';

/** No payload is an array. `hasSensor`: the topic names the sensor; `isMixed`: the payloads have different forms */
function valuesFor(
  contents: unknown[],
  { quantity, hasSensor, isMixed }: { quantity: string | null; hasSensor: boolean; isMixed: boolean },
): Record<string, unknown> {
  const found: Array<{ tokens: string[]; value: unknown }> = [];
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

/** `only`: the quantity of the topic, if the payload has no other value */
function sensorFor(tokens: string[], only: string | null, quantity: string | null): string {
  const path = nameOfParts(tokens).replaceAll(/[{}]/g, '');
  if (only !== null) return only;
  const isPlain = quantity === null || tokens.some((token) => QUANTITIES.test(token));
  return (isPlain ? path : `${quantity}.${path}`) || 'value';
}

/** The content is an array of measurements. */
function listFor([first]: unknown[]): Record<string, unknown> {
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

function valuesIn(content: unknown): Array<{ tokens: string[]; value: unknown }> {
  const found: Array<{ tokens: string[]; value: unknown }> = [];
  visitValues(
    content,
    (tokens, value) => found.push({ tokens, value }),
    (_, array) => brokenArrayRule(array) !== null,
  );
  return found;
}

/** Returns undefined if the payload is no JSON, or cut off. */
function parse(payload: Buffer): unknown {
  let text = '';
  try {
    text = decodeReplacing(payload).text.trim();
    return JSON.parse(text);
  } catch {
    return /^[[{]/.test(text) ? {} : text;
  }
}

const SWITCH = /^(?:on|off|open|closed|online|offline)$/i;

/** A text such as "21.5", and no id such as "0012" or "1e5". */
const isNumberAsText = (value: unknown): boolean =>
  typeof value === 'string' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);

const isValue = (value: unknown) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  isNumberAsText(value) ||
  (typeof value === 'string' && SWITCH.test(value));

/** Words such as `on` among the values, with their opposites. */
function wordsFor(values: unknown[]): { words?: Record<string, number> } {
  const words: Record<string, number> = {};
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

function inCaseOf(given: string, word: string): string {
  if (given === given.toUpperCase()) return word.toUpperCase();
  return given === given.toLowerCase() ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function timeIn(
  found: Array<{ tokens: string[]; value: unknown }>,
): { tokens: string[]; spec: unknown } | null {
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
