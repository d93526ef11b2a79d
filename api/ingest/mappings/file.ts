import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { decodeText } from '../../../common/encodings.js';
import { MillraceError } from '../../../common/errors.js';
import { Mapping } from './mapping.js';
import { FILE, MAPPING, MAX_MAPPINGS, PRESET, USE } from './schema.js';

/** @import { Document } from 'yaml' */
/** @import { z } from 'zod' */
/** @import { Use } from './schema.js' */

/** @typedef {Array<string | number>} Path of a member in a document */

const PRESETS = new URL('presets/', import.meta.url);

/** @typedef {{ name: string, title: string, base?: string | undefined, mappings: Record<string, unknown>[], text: string }} Preset */

/** @returns {Preset[]} all presets, by name */
export const readPresets = () =>
  readdirSync(PRESETS)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, PRESETS), 'utf8');
      return { name: basename(file, '.yaml'), ...PRESET.parse(parseDocument(text).toJS()), text };
    });

/**
 * Reads a file of mappings.
 *
 * @param {string} path
 * @returns {Mapping[]} in the order of the file
 * @throws {MillraceError} `bad_settings` with the line and column of every mistake
 */
export function readMappings(path) {
  let text;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
  return parseMappings(text, path);
}

/**
 * @param {string} text YAML
 * @param {string} name name of the file, for error messages
 * @returns {Mapping[]}
 * @throws {MillraceError} `bad_settings`
 */
export function parseMappings(text, name) {
  const file = new MappingFile(text, name);
  const specs = file.read();
  file.throwProblems();
  return specs.map((spec) => new Mapping(spec));
}

const QUOTES = "Within [ ] and { }, quote texts with braces, such as 'home/{device}'.";

/** Reads a file of mappings, and collects all problems with their lines and columns. */
class MappingFile {
  #name;
  #document;
  #lines = new LineCounter();
  /** @type {string[]} */
  #problems = [];
  #presets = readPresets();

  /** @param {string} text @param {string} name */
  constructor(text, name) {
    this.#name = name;
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    // Only the first syntax error is reported, because it usually causes the other errors.
    const [error] = this.#document.errors;
    if (error) this.#note(error.pos[0], `${error.message}. ${QUOTES}`);
  }

  /** @returns {z.infer<typeof MAPPING>[]} the valid mappings, including the mappings of presets */
  read() {
    if (this.#problems.length > 0) return [];
    const content = this.#content();
    if (this.#problems.length > 0) return [];
    const { data, error } = FILE.safeParse(content);
    if (!data) {
      this.#noteIssues([], error);
      return [];
    }
    const specs = data.mappings.flatMap((entry, index) =>
      Object.hasOwn(entry, 'use') ? this.#expand(entry, index) : this.#check(entry, ['mappings', index]),
    );
    const repeated = specs.find(({ name }, index) => specs.findIndex((spec) => spec.name === name) < index);
    if (repeated) this.#note(0, `two mappings have the name ${repeated.name}`);
    if (specs.length > MAX_MAPPINGS) this.#note(0, `the presets and mappings are more than ${MAX_MAPPINGS}`);
    return specs;
  }

  /** @throws {MillraceError} `bad_settings` when there are problems */
  throwProblems() {
    if (this.#problems.length === 0) return;
    const lines = this.#problems.map((problem) => `  ${problem}`);
    throw new MillraceError('bad_settings', `Mappings to correct (MQTT_MAPPINGS):\n${lines.join('\n')}`);
  }

  /** @returns {unknown} the parsed content. A file whose YAML aliases expand without limit is reported as a problem */
  #content() {
    try {
      return this.#document.toJS();
    } catch (error) {
      this.#note(0, /** @type {Error} */ (error).message);
      return null;
    }
  }

  /** @param {Record<string, unknown>} entry @param {Path} path @returns {z.infer<typeof MAPPING>[]} */
  #check(entry, path) {
    const { data, error } = MAPPING.safeParse(entry);
    if (data) return [data];
    this.#noteIssues(path, error);
    return [];
  }

  /** @param {Record<string, unknown>} entry @param {number} index @returns {z.infer<typeof MAPPING>[]} the mappings of the preset */
  #expand(entry, index) {
    const { data, error } = USE.safeParse(entry);
    if (!data) {
      this.#noteIssues(['mappings', index], error);
      return [];
    }
    const preset = this.#presets.find(({ name }) => name === data.use);
    if (!preset) {
      const names = this.#presets.map(({ name }) => name).join(', ');
      this.#noteAt(['mappings', index, 'use'], `must be a preset: ${names}`);
      return [];
    }
    if (data.base !== undefined && preset.base === undefined) {
      this.#noteAt(
        ['mappings', index, 'base'],
        `cannot be set: topics of ${preset.name} have no common beginning`,
      );
      return [];
    }
    return expandPreset(preset, data);
  }

  /** @param {Path} path path of the checked entry @param {z.ZodError | undefined} error */
  #noteIssues(path, error) {
    for (const issue of error?.issues ?? []) {
      const at = [...path, .../** @type {Path} */ (issue.path)];
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.#noteAt([...at, key], 'is not a member that this place takes');
      } else this.#noteAt(at, issue.message);
    }
  }

  /** @param {Path} path @param {string} message text after the path */
  #noteAt(path, message) {
    this.#note(offsetOf(this.#document, path), `${textOf(path)} ${message}`.trim());
  }

  /** @param {number} offset @param {string} message */
  #note(offset, message) {
    const { line, col } = this.#lines.linePos(offset);
    this.#problems.push(`${this.#name}:${line || 1}:${col || 1}: ${message}`);
  }
}

/**
 * @param {Preset} preset
 * @param {Omit<Use, 'use'>} [options]
 * @returns {z.infer<typeof MAPPING>[]} mappings of the preset. Their names begin with the name of the preset
 */
export function expandPreset({ name, base, mappings }, options = {}) {
  const own = JSON.stringify(options.base ?? base ?? '').slice(1, -1);
  // The presets contain {base} in topics only, so the text of the whole preset can be replaced.
  const replaced = JSON.parse(JSON.stringify(mappings).replaceAll('{base}', () => own));
  return replaced.map((/** @type {Record<string, unknown>} */ entry) => {
    const spec = MAPPING.parse(entry);
    const time = spec.time && { ...spec.time, zone: options.zone ?? spec.time.zone };
    const values = spec.values.map((value) =>
      value.all === undefined
        ? value
        : {
            ...value,
            ignore: [...value.ignore, ...(options.ignore ?? [])],
            numbers: bothNumbers(value.numbers, options.numbers),
          },
    );
    const sensors = { ...options.sensors, ...withoutKeys(spec.sensors, options.sensors) };
    return { ...spec, name: `${name}/${spec.name}`, time, values, sensors };
  });
}

/** @param {Use['numbers']} preset @param {Use['numbers']} further @returns {Use['numbers']} */
const bothNumbers = (preset, further) =>
  preset === 'text' || further === 'text' ? 'text' : [...(preset ?? []), ...(further ?? [])];

/** @template T @param {Record<string, T>} all @param {Record<string, unknown>} [without] @returns {Record<string, T>} */
const withoutKeys = (all, without = {}) =>
  Object.fromEntries(Object.entries(all).filter(([key]) => !Object.hasOwn(without, key)));

/** @param {Document} document @param {Path} path @returns {number} offset of the deepest node on the path that exists */
function offsetOf(document, path) {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true) ?? document.contents;
    const key = path[length - 1];
    const pair = isMap(parent) && parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    if (pair && isScalar(pair.key) && pair.key.range) return pair.key.range[0];
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

/** @param {Path} path @returns {string} a text such as `mappings[0].values[1].pointer` */
const textOf = (path) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
