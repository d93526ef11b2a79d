import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { decodeText } from '../../../common/encodings.ts';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import { Mapping } from './mapping.ts';
import { FILE, MAPPING, MAX_MAPPINGS, PRESET, USE, type Use } from './schema.ts';

type Path = Array<string | number>;

const PRESETS = new URL('presets/', import.meta.url);

export type Preset = {
  name: string;
  title: string;
  base?: string | undefined;
  mappings: Record<string, unknown>[];
  text: string;
};

export const readPresets = (): Preset[] =>
  readdirSync(PRESETS)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, PRESETS), 'utf8');
      return { name: basename(file, '.yaml'), ...PRESET.parse(parseDocument(text).toJS()), text };
    });

/** @throws `bad_settings` with the line and column of every mistake */
export function readMappings(path: string): Mapping[] {
  let text: string;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
  return parseMappings(text, path);
}

/** @throws `bad_settings` */
export function parseMappings(text: string, name: string): Mapping[] {
  const file = new MappingFile(text, name);
  const specs = file.read();
  file.throwProblems();
  return specs.map((spec) => new Mapping(spec));
}

const QUOTES = "Within [ ] and { }, quote texts with braces, such as 'home/{device}'.";

/** Collects all problems with their lines and columns. */
class MappingFile {
  #name;
  #document;
  #lines = new LineCounter();
  #problems: string[] = [];
  #presets = readPresets();

  constructor(text: string, name: string) {
    this.#name = name;
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    // Only the first syntax error is reported, because it usually causes the other errors.
    const [error] = this.#document.errors;
    if (error) this.#note(error.pos[0], `${error.message}. ${QUOTES}`);
  }

  /** Only the valid mappings, including those of presets. */
  read(): z.infer<typeof MAPPING>[] {
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

  throwProblems() {
    if (this.#problems.length === 0) return;
    const lines = this.#problems.map((problem) => `  ${problem}`);
    throw new MillraceError('bad_settings', `Mappings to correct (MQTT_MAPPINGS):\n${lines.join('\n')}`);
  }

  /** YAML aliases that expand without limit are reported as a problem. */
  #content(): unknown {
    try {
      return this.#document.toJS();
    } catch (error) {
      this.#note(0, messageOf(error));
      return null;
    }
  }

  #check(entry: Record<string, unknown>, path: Path): z.infer<typeof MAPPING>[] {
    const { data, error } = MAPPING.safeParse(entry);
    if (data) return [data];
    this.#noteIssues(path, error);
    return [];
  }

  #expand(entry: Record<string, unknown>, index: number): z.infer<typeof MAPPING>[] {
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

  #noteIssues(path: Path, error: z.ZodError | undefined) {
    for (const issue of error?.issues ?? []) {
      const at = [...path, ...(issue.path as Path)];
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.#noteAt([...at, key], 'is not a member that this place takes');
      } else this.#noteAt(at, issue.message);
    }
  }

  #noteAt(path: Path, message: string) {
    this.#note(offsetOf(this.#document, path), `${textOf(path)} ${message}`.trim());
  }

  #note(offset: number, message: string) {
    const { line, col } = this.#lines.linePos(offset);
    this.#problems.push(`${this.#name}:${line || 1}:${col || 1}: ${message}`);
  }
}

/** The names of the mappings begin with the name of the preset. */
export function expandPreset(
  { name, base, mappings }: Preset,
  options: Omit<Use, 'use'> = {},
): z.infer<typeof MAPPING>[] {
  const own = JSON.stringify(options.base ?? base ?? '').slice(1, -1);
  // The presets contain {base} in topics only, so the text of the whole preset can be replaced.
  const replaced = JSON.parse(JSON.stringify(mappings).replaceAll('{base}', () => own));
  return replaced.map((entry: Record<string, unknown>) => {
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

const bothNumbers = (preset: Use['numbers'], further: Use['numbers']): Use['numbers'] =>
  preset === 'text' || further === 'text' ? 'text' : [...(preset ?? []), ...(further ?? [])];

const withoutKeys = <T>(all: Record<string, T>, without: Record<string, unknown> = {}): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([key]) => !Object.hasOwn(without, key)));

/** Offset of the deepest node on the path that exists. */
function offsetOf(document: Document, path: Path): number {
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

/** Formats a path such as `mappings[0].values[1].pointer`. */
const textOf = (path: Path): string =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
