import { LRUCache } from 'lru-cache';
import { charsetOf, decodeText } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type Glob, globOf } from '../../../common/globs.ts';
import { isName } from '../../../schema/ids.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { joinNames, nameOfPart, nameOfParts } from '../../../schema/sensor-names.ts';
import { brokenArrayRule, parseJsonText } from '../../ingest/decode/index.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import { brokenNumberRule, isProbableNumber, toNumber } from './numbers.ts';
import { filled, type Levels, namesIn, SensorTemplate, TextPattern, TopicPattern } from './pattern.ts';
import { find, type Pointer, parsePointer, pathOf, visitValues } from './pointer.ts';
import { Reading, SHARED, type Time, tooMany } from './reading.ts';
import { RepeatedMessages } from './repeated-messages.ts';
import type { MappingSpec, NameSpec, TextSpec } from './schema.ts';
import { readTime } from './times.ts';

export interface ParsedMessage {
  device: string;
  /** named levels of the topic, and named parts of texts in the payload */
  levels: Levels;
  content: unknown;
}

/** `isCurrent`: the message itself contains it, so it is newer than the stored description */
export type Description = { unit?: string; type?: string; isCurrent: boolean };

/** A longer payload than this must be JSON, a shorter one may be a single value. */
const MAX_BARE_BYTES = 1024;

/** characters in the name of a sensor */
const MAX_NAME = 128;

const MAX_KNOWN = 10_000;

export class Mapping {
  #spec;
  #skips;
  #extracts;
  #each;
  #time;
  #rules;
  #table;
  /** by the name of the sensor */
  #known: LRUCache<string, { unit?: TextSpec; type?: TextSpec; invalid: number[] }> = new LRUCache({
    max: MAX_KNOWN,
    memoMethod: (sensor) => this.#lookUp(sensor),
  });
  /** levels by the name that an ambiguous template gave for them */
  #sources: LRUCache<string, string> = new LRUCache({ max: MAX_KNOWN });
  #repeated;
  #hasInvalid;
  name;
  patterns;

  constructor(spec: MappingSpec) {
    this.#spec = spec;
    this.name = spec.name;
    this.patterns = spec.topic.map((text) => new TopicPattern(text));
    this.#skips = spec.skip === true ? [] : toConditions(spec.skip);
    this.#extracts = spec.match.map(({ pointer, topic, text }) => ({
      pointers: pointer.map(parsePointer),
      patterns: [
        ...topic.map((each) => new TopicPattern(each)),
        ...text.map((each) => new TextPattern(each)),
      ],
    }));
    this.#each = spec.each === undefined ? null : parsePointer(spec.each);
    this.#time = spec.time && { ...spec.time, pointers: spec.time.pointer.map(parsePointer) };
    this.#rules = spec.values.map((rule, index) => ({
      ...rule,
      index,
      isAll: rule.all !== undefined,
      at: parsePointer(rule.all ?? rule.pointer ?? ''),
      best: rule.best && { list: parsePointer(rule.best.list), by: parsePointer(rule.best.by) },
      template: typeof rule.sensor === 'string' ? new SensorTemplate(rule.sensor) : null,
      ignored: rule.ignore.map(globOf),
      numeric: (Array.isArray(rule.numbers) ? rule.numbers : rule.numbers ? ['*'] : []).map((name) =>
        globOf(name.toLowerCase()),
      ),
      skips: toConditions(rule.skip),
    }));
    this.#repeated = spec.once ? new RepeatedMessages(spec.once) : null;
    this.#hasInvalid = Object.values(spec.sensors).some(({ invalid }) => invalid !== undefined);
    this.#table = Object.entries(spec.sensors).map(([glob, entry]) => ({ ...entry, glob: globOf(glob) }));
  }

  /** Its messages describe a sensor and have no values. */
  get isDescription() {
    return this.#spec.describes !== undefined;
  }

  get isSkipped() {
    return this.#spec.skip === true;
  }

  /** Empty: no topic names the device. */
  filtersOf(device: string): string[] {
    if (this.#spec.device !== '{device}' || this.isSkipped) return [];
    return this.patterns
      .filter(({ names }) => names.includes('device'))
      .map((pattern) => pattern.filterFor(device));
  }

  /** Returns the named levels, or null if no pattern matches the topic. */
  match(levels: string[]): Levels | null {
    for (const pattern of this.patterns) {
      const found = pattern.match(levels);
      if (found) return found;
    }
    return null;
  }

  /** empty: the payload names the device */
  deviceOf(levels: Levels): string {
    const { device } = this.#spec;
    return typeof device === 'string' ? (filled(device, levels) ?? '') : '';
  }

  /** Returns null if the mapping skips this message. @throws `malformed`, `bad_id` */
  open(levels: Levels, payload: Buffer, contentType?: string): ParsedMessage | null {
    // An empty payload removes a retained message.
    if (this.isSkipped || payload.length === 0) return null;
    const content = parsePayload(payload, contentType);
    if (isAnyMet(this.#skips, content)) return null;
    const extended = this.#extract(levels, content);
    if (extended === null) return null;
    const device = this.#nameOf(this.#spec.device, { levels: extended, root: content, content });
    if (device !== null) return { device, levels: extended, content };
    if (this.isDescription) return null;
    throw new MillraceError('bad_id', `the mapping ${this.name} finds no name of a device`);
  }

  /** Returns descriptions by name of the sensor. @throws `malformed`, `too_large`, `bad_id` */
  read({ device, levels, content }: ParsedMessage, batch: MessageBatch): Map<string, Description> {
    this.#checkDevice(device, levels);
    const reading = new Reading(batch, (sensor, value) => this.#isInvalid(sensor, value));
    let missed = 0;
    for (const [key, root] of this.#roots(content)) {
      const place = { device, levels: key === null ? levels : { ...levels, key }, root, content };
      const base = key === null || this.#each === null ? [] : [...this.#each, key];
      const ownTime = this.#readTime(place, base, batch.receivedAt);
      const first = this.#repeated?.find(device, root, ownTime.ts ?? batch.receivedAt) ?? null;
      const time = first === null ? ownTime : { ...ownTime, ts: first };
      // A redelivery has the time of the first message, and is stored as a whole.
      const isRepeated = first !== null && first !== ownTime.ts;
      const foundBefore = reading.found;
      for (const rule of this.#rules) {
        if (isAnyMet(rule.skips, root)) reading.ignore();
        else if (rule.best && isRepeated) reading.skipRepeated();
        else if (rule.isAll) this.#readAll(rule, { ...place, base, time }, reading);
        else this.#readOne(rule, { ...place, base, time }, reading);
      }
      if (reading.found === foundBefore) missed++;
    }
    if (reading.found === 0) {
      const missing = `has none of the values that the mapping ${this.name} reads`;
      throw new MillraceError('malformed', missing, { path: pathOf(this.#rules[0]?.at ?? []) });
    }
    for (; missed > 0; missed--) {
      reading.countReceived();
      reading.skip();
    }
    return reading.described;
  }

  /** Returns null if the payload lacks the name of the sensor. */
  describe({ levels, content }: ParsedMessage): { sensor: string; unit?: string; type?: string } | null {
    const { describes = {} } = this.#spec;
    const place = { levels, root: content, content };
    const sensor = describes.sensor ? this.#nameOf(describes.sensor, place) : (levels['sensor'] ?? 'value');
    return sensor === null ? null : { sensor, ...textsOf(describes, place) };
  }

  /** Adds the named parts of texts. Returns null if the mapping cannot find which sensor is described. */
  #extract(levels: Levels, content: unknown): Levels | null {
    let extended = levels;
    for (const { pointers, patterns } of this.#extracts) {
      const text = withBase(firstOf(pointers, content), content);
      if (typeof text !== 'string') continue;
      const found = partsOf(patterns, text);
      if (found === null && this.isDescription) return null;
      extended = { ...extended, ...found };
    }
    return extended;
  }

  /** members of the payload that have values */
  #roots(content: unknown): Array<[key: string | null, root: unknown]> {
    if (this.#each === null) return [[null, content]];
    const parts = find(content, this.#each);
    const isList = parts !== null && typeof parts === 'object';
    if (isList && Object.keys(parts).length <= MAX_SAMPLES_PER_MESSAGE) return Object.entries(parts);
    const path = pathOf(this.#each);
    if (isList) throw tooMany();
    throw new MillraceError('malformed', 'must be an array or an object of measurements', { path });
  }

  #nameOf(spec: NameSpec, { levels, root, content }: Place): string | null {
    if (typeof spec === 'string') return filled(spec, levels);
    const found =
      firstOf(spec.pointer.map(parsePointer), root) ?? firstOf(spec.pointer.map(parsePointer), content);
    // JSON.parse rounds integers beyond 2^53, so two numbers could become the same name.
    if (typeof found === 'number' && Math.abs(found) <= Number.MAX_SAFE_INTEGER) return String(found);
    return typeof found === 'string' ? found : null;
  }

  #readTime({ root, content }: Place, base: Pointer, receivedAt: number): Time {
    if (!this.#time) return { ts: undefined, path: '' };
    const { pointers } = this.#time;
    const own = pointers.find((pointer) => find(root, pointer) !== undefined);
    const shared = pointers.find((pointer) => find(content, pointer) !== undefined);
    if (own)
      return { ts: readTime(find(root, own), this.#time, receivedAt), path: pathOf([...base, ...own]) };
    if (shared) return { ts: readTime(find(content, shared), this.#time, receivedAt), path: pathOf(shared) };
    return { ts: undefined, path: '' };
  }

  #readOne(rule: Rule, part: Part, reading: Reading) {
    const at = rule.best ? [...bestIn(part.root, rule.best), ...rule.at] : rule.at;
    const value = find(part.root, at);
    if (value === undefined) return;
    reading.countReceived();
    if (value === null) return reading.skip();
    const path = nameOfParts(rule.at);
    const defaultName = part.levels['sensor'] ?? (path || 'value');
    this.#add(rule, { ...part, at, tokens: [], path, defaultName, value }, reading);
  }

  #readAll(rule: Rule, part: Part, reading: Reading) {
    const below = find(part.root, rule.at);
    if (below === undefined) return;
    const { sensor } = part.levels;
    const isIgnored = (tokens: string[]) => {
      const plain = tokens.join('.');
      // A longer path cannot be the name of a sensor, so it is not compared with the ignored names.
      return plain.length <= MAX_NAME && rule.ignored.some((glob) => glob.test(plain));
    };
    visitValues(
      below,
      (tokens, value) => {
        if (isIgnored(tokens)) return reading.ignore();
        reading.countReceived();
        if (this.#isSkipped(rule, tokens, value)) return reading.skip();
        const path = nameOfParts(tokens);
        const level = sensor === undefined ? '' : nameOfPart(sensor);
        const defaultName = level && path ? joinNames(level, path) : level || path || 'value';
        this.#add(rule, { ...part, at: rule.at, tokens, path, defaultName, value }, reading);
      },
      (tokens, array) => isIgnored(tokens) || brokenArrayRule(array) !== null,
    );
  }

  /** `all` skips the value. */
  #isSkipped(rule: Rule, tokens: string[], value: unknown): boolean {
    if (Array.isArray(value)) return value.length === 0;
    if (typeof value !== 'string') return value === null;
    return (
      !isProbableNumber(value) && toNumber(value, this.#spec.words, readsText(rule, tokens, value)) === null
    );
  }

  /** `path`: below the pointer of the rule; `defaultName`: if the rule gives no name */
  #add(
    rule: Rule,
    {
      at,
      tokens,
      path,
      defaultName,
      value,
      ...part
    }: Part & { at: Pointer; tokens: string[]; path: string; defaultName: string; value: unknown },
    reading: Reading,
  ) {
    const levels: Levels = { ...part.levels, path };
    const { template } = rule;
    const named = template
      ? template.fill(levels)
      : rule.sensor
        ? this.#nameOf(rule.sensor, part)
        : defaultName;
    const parts = template?.isAmbiguous ? JSON.stringify(template.names.map((name) => levels[name])) : '';
    reading.add(
      {
        sensor: named,
        source: `${rule.index} ${path}`,
        isShared: named !== null && parts !== '' && this.#isShared(`${part.device}\0${named}`, parts),
        value: toNumber(value, this.#spec.words, readsText(rule, tokens, value)),
        time: part.time,
        path: pathOf([...part.base, ...at, ...tokens]),
        rule: brokenNumberRule(value, [...rule.at, ...tokens], rule.isAll),
      },
      (name) => this.#description(name, rule, part),
    );
  }

  /** Other levels gave the same name before, to this process. */
  #isShared(name: string, levels: string) {
    const known = this.#sources.get(name);
    if (known === undefined) this.#sources.set(name, levels);
    return known !== undefined && known !== levels;
  }

  /** @throws `bad_id`: other levels gave the same name */
  #checkDevice(device: string, levels: Levels) {
    const { device: spec } = this.#spec;
    const names = typeof spec === 'string' ? namesIn(spec) : [];
    if (names.length < 2) return;
    const source = JSON.stringify(names.map((name) => levels[name]));
    if (this.#isShared(device, source)) throw new MillraceError('bad_id', `the device ${SHARED}`);
  }

  #description(sensor: string, rule: Rule, place: Place): Description | null {
    if (!isName(sensor)) return null;
    const table = this.#known.memo(sensor);
    const specs = { unit: rule.unit ?? table.unit, type: rule.type ?? table.type };
    const texts = textsOf(specs, place);
    if (texts.unit === undefined && texts.type === undefined) return null;
    return { ...texts, isCurrent: [specs.unit, specs.type].some((spec) => typeof spec === 'object') };
  }

  #isInvalid(sensor: string, value: number) {
    return this.#hasInvalid && sensor.length <= MAX_NAME && this.#known.memo(sensor).invalid.includes(value);
  }

  /** The first unit and type in the table, and all invalid numbers. */
  #lookUp(sensor: string): { unit?: TextSpec; type?: TextSpec; invalid: number[] } {
    // The unit of an array is that of its elements.
    const array = sensor.replace(/\.\d+$/, '');
    const entries = [sensor, array].flatMap((name) => this.#table.filter(({ glob }) => glob.test(name)));
    return {
      unit: entries.find(({ unit }) => unit !== undefined)?.unit,
      type: entries.find(({ type }) => type !== undefined)?.type,
      invalid: entries.flatMap(({ invalid = [] }) => invalid),
    };
  }
}

/** `root`: the member that is read; `content`: the whole payload */
type Place = { device?: string; levels: Levels; root: unknown; content: unknown };
type Part = Place & { base: Pointer; time: Time };
type Conditions = ReturnType<typeof toConditions>;
type Rule = Omit<MappingSpec['values'][number], 'best'> & {
  index: number;
  isAll: boolean;
  at: Pointer;
  best: Best | undefined;
  template: SensorTemplate | null;
  ignored: Glob[];
  numeric: Glob[];
  skips: Conditions;
};

/** The element of `list` with the greatest number `by` is read. */
type Best = { list: Pointer; by: Pointer };

/** The value is a text that may be a number. */
function readsText({ numeric }: Rule, tokens: string[], value: unknown): boolean {
  if (typeof value !== 'string' || numeric.length === 0) return false;
  const name = tokens.join('.').toLowerCase();
  return numeric.some((glob) => glob.test(name));
}

/** The text if it is no JSON. @throws `malformed` */
function parsePayload(payload: Buffer, contentType?: string): unknown {
  const text = decodeText(payload, charsetOf(contentType)).trim();
  // A payload `nan` stays a text. It may be a word of the mapping. Otherwise it is refused as one value.
  if (/^[[{"]/.test(text) || payload.length > MAX_BARE_BYTES) return parseJsonText(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const toConditions = (skip: MappingSpec['values'][number]['skip']) =>
  skip.map((rule) => ({ ...rule, at: parsePointer(rule.pointer) }));

const isAnyMet = (conditions: Conditions, content: unknown) =>
  conditions.some(({ is, missing, at }) => {
    const found = find(content, at);
    if (missing !== undefined) return (found === undefined) === missing;
    return ((is ?? []) as unknown[]).includes(found);
  });

function bestIn(root: unknown, { list, by }: Best): Pointer {
  const elements = find(root, list);
  const numbers = Array.isArray(elements) ? elements.map((element) => find(element, by)) : [];
  let best = 0;
  for (const [index, number] of numbers.entries()) {
    const greatest = numbers[best];
    if (typeof number === 'number' && !(typeof greatest === 'number' && number <= greatest)) best = index;
  }
  return [...list, String(best)];
}

function firstOf(pointers: Pointer[], content: unknown): unknown {
  for (const pointer of pointers) {
    const found = find(content, pointer);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** By the first pattern that matches. */
function partsOf(patterns: Array<TopicPattern | TextPattern>, text: string): Levels | null {
  const topic = text.split('/');
  for (const pattern of patterns) {
    const found = pattern instanceof TopicPattern ? pattern.match(topic) : pattern.match(text);
    if (found) return found;
  }
  return null;
}

/** Home Assistant writes `~` at the beginning or the end of a topic for the member `~`. */
function withBase(text: unknown, content: unknown) {
  const base = find(content, ['~']);
  if (typeof text !== 'string' || typeof base !== 'string') return text;
  return text.replace(/^~/, () => base).replace(/~$/, () => base);
}

/** Leaves out names that are not valid. */
function textsOf(
  { unit, type }: { unit?: TextSpec; type?: TextSpec },
  place: Place,
): { unit?: string; type?: string } {
  const texts = { unit: textOf(unit, place), type: textOf(type, place) };
  return {
    ...(isName(texts.unit) ? { unit: texts.unit } : {}),
    ...(isName(texts.type) ? { type: texts.type } : {}),
  };
}

function textOf(spec: TextSpec | undefined, { root, content }: Place): unknown {
  if (typeof spec !== 'object') return spec;
  const pointers = spec.pointer.map(parsePointer);
  const found = firstOf(pointers, root) ?? firstOf(pointers, content);
  return typeof found === 'string' && Object.hasOwn(spec.words, found) ? spec.words[found] : found;
}
