import { join } from 'node:path';
import type { Json } from '../json.ts';
import type { Module, Thing } from './modules.ts';

/**
 * Finds errors that `terraform validate` would report with the providers, by lists of their arguments.
 * names, separated by spaces
 */
export type Known = { needs?: string; sets?: string; reads?: string; blocks?: Record<string, Known> };

/** Arguments of Terraform itself, valid in every resource. */
const META = ['for_each', 'count', 'depends_on', 'provider', 'lifecycle'];

/** @param thing a resource or data source @returns problems of its arguments */
export function wrongArguments(thing: Thing, known: Record<string, Known>): string[] {
  const type = known[thing.type];
  return type
    ? wrongIn(thing.body, type, { where: thing.address, meta: META })
    : [`${thing.address}: ${thing.type} is in no list of arguments`];
}

function wrongIn(
  body: Record<string, Json>,
  known: Known,
  { where, meta = [] }: { where: string; meta?: string[] },
): string[] {
  const missing = (known.needs?.split(' ') ?? []).filter((name) => !(name in body));
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    if (name === '__is_block__' || meta.includes(name)) return [];
    const block = known.blocks?.[name];
    if (block && Array.isArray(value))
      return value.flatMap((item) => wrongIn(item, block, { where: `${where}.${name}` }));
    if (has(known.sets, name) || has(known.needs, name)) return [];
    return [`${where}.${name} ${has(known.reads, name) ? 'can be read, and not set' : 'is no argument'}`];
  });
  return [...wrong, ...missing.map((name) => `${where}.${name} is missing`)];
}

const has = (names: string | undefined, name: string) => names?.split(' ').includes(name) ?? false;

/** @returns references to missing variables, locals, resources or attributes */
export function wrongReferences(module: Module, known: Record<string, Known>): string[] {
  const addresses = new Set([...module.resources, ...module.data].map(({ address }) => address));
  return referencesIn(module.text).flatMap((reference) => {
    const [first = '', second = '', third = '', ...rest] = reference.split('.');
    if (first === 'var') return second in module.variables ? [] : [`${reference}: no such variable`];
    if (first === 'local') return module.locals.has(second) ? [] : [`${reference}: no such local value`];
    if (first === 'module') return second in module.calls ? [] : [`${reference}: no such module`];
    const isData = first === 'data';
    const type = isData ? `data.${second}` : first;
    const address = isData ? `data.${second}.${third}` : `${first}.${second}`;
    if (!addresses.has(address)) return [`${reference}: no such resource`];
    const attribute = isData ? rest[0] : third;
    const { needs = '', sets = '', reads = '' } = known[type] ?? {};
    return !attribute || has(`${needs} ${sets} ${reads}`, attribute)
      ? []
      : [`${reference}: no such attribute`];
  });
}

/** @param modules by directory @returns problems of the calls of modules */
export function wrongCalls(module: Module, modules: Map<string, Module>): string[] {
  return Object.entries(module.calls).flatMap(([name, { source, ...body }]) => {
    const called = modules.get(join(module.directory, source));
    if (!called) return [`module.${name}: ${source} is no directory of modules`];
    const given = Object.keys(body).filter((key) => key !== '__is_block__' && !META.includes(key));
    const wanted = Object.keys(called.variables).filter((key) => !('default' in called.variables[key]));
    const read = referencesIn(module.text).filter((reference) => reference.startsWith(`module.${name}.`));
    return [
      ...given
        .filter((key) => !(key in called.variables))
        .map((key) => `module.${name}.${key}: no such variable`),
      ...wanted.filter((key) => !given.includes(key)).map((key) => `module.${name}.${key}: has no default`),
      ...read
        .filter((reference) => !(String(reference.split('.')[2]) in called.outputs))
        .map((reference) => `${reference}: no such output`),
    ];
  });
}

const REFERENCE = /(?<![\w."-])(?:var|local|module|data|(?:aws|scylladbcloud)_\w+)(?:\.\w+)+/g;

/** @param text of HCL, without comments @returns each once */
function referencesIn(text: string): string[] {
  // Brackets are searched separately, the innermost first, because the text behind them continues the reference before them.
  const pieces = [];
  let rest = text;
  for (let inner = INNERMOST.exec(rest); inner; inner = INNERMOST.exec(rest)) {
    pieces.push(String(inner[1]));
    rest = rest.slice(0, inner.index) + rest.slice(inner.index + inner[0].length);
  }
  return [...new Set([rest, ...pieces].flatMap((piece) => piece.match(REFERENCE) ?? []))];
}

const INNERMOST = /\[([^[\]]*)\]/;
