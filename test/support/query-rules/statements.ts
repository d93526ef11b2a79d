import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface WrittenStatement {
  file: string;
  /** with `${...}` for words that a function inserts */
  cql: string;
  /** whether a sent text is this statement */
  isSent: (cql: string) => boolean;
}

const LITERAL =
  /'((?:SELECT|INSERT|UPDATE|DELETE) [^']*)'|"((?:SELECT|INSERT|UPDATE|DELETE) [^"]*)"|`([^`]+)`/g;
const CONSTANT = /const (\w+) =\s+(?:'([^']*)'|"([^"]*)"|`([^`]*)`)/g;
const PLACE = /\$\{(\w+)\}/g;

/**
 * Lists every statement in the sources of some folders, to find those that are never sent. A constant that is
 * inserted into other statements is not a statement itself.
 */
export function statementsOf(folders: string[]): WrittenStatement[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => /\.[jt]s$/.test(file))
    .flatMap((file) => statementsIn(readFileSync(file, 'utf8')).map((cql) => ({ file, ...written(cql) })));
}

export function statementsIn(source: string): string[] {
  const constants = Object.fromEntries(
    [...source.matchAll(CONSTANT)].map(([, name, a, b, c]) => [name, a ?? b ?? c ?? '']),
  );
  const fragments = new Set([...source.matchAll(PLACE)].map(([, name = '']) => constants[name]));
  const found = [...source.matchAll(LITERAL)]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .filter((text) => !fragments.has(text))
    .map((text) => text.replaceAll(PLACE, (place, name) => constants[name] ?? place))
    .filter((text) => /^(SELECT .+ FROM|INSERT INTO|UPDATE|DELETE .*FROM) /s.test(text));
  return [...new Set(found)];
}

function written(cql: string) {
  const pattern = new RegExp(
    `^${cql
      .split(PLACE)
      .map((piece, index) => (index % 2 ? '[\\w ]*' : escaped(piece)))
      .join('')}$`,
  );
  return { cql, isSent: (sent: string) => pattern.test(sent) };
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
