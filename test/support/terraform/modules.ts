import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PythonTools, readHcl } from '../../../infra/python/ensure.ts';
import type { Json } from '../json.ts';

/**
 * A resource or a data source: `type` is as in lists of arguments (`aws_vpc`, `data.aws_vpc`), `address` as in references.
 */
export type Thing = { type: string; name: string; address: string; body: Record<string, Json> };

/** A directory of Terraform, all its files as one. */
export interface Module {
  directory: string;
  /** without comments and without what is in quotes, but for its expressions */
  text: string;
  resources: Thing[];
  data: Thing[];
  variables: Record<string, Json>;
  outputs: Record<string, Json>;
  /** of other modules */
  calls: Record<string, Json>;
  locals: Set<string>;
  /** blocks `terraform` */
  settings: Record<string, Json>[];
}

/** @returns by directory */
export async function readModules(python: PythonTools, directories: string[]): Promise<Map<string, Module>> {
  const filesIn = (directory: string) =>
    readdirSync(directory)
      .filter((file) => file.endsWith('.tf'))
      .map((file) => join(directory, file));
  const read = await readHcl(python, directories.flatMap(filesIn));
  return new Map(directories.map((directory) => [directory, moduleOf(directory, filesIn(directory), read)]));
}

function moduleOf(directory: string, files: string[], read: Record<string, Json>): Module {
  const blocks = (kind: string) => files.flatMap((file) => read[file][kind] ?? []);
  const named = (kind: string) => Object.assign({}, ...blocks(kind));
  return {
    directory,
    text: files.map((file) => bare(readFileSync(file, 'utf8'))).join('\n'),
    resources: thingsIn(blocks('resource'), ''),
    data: thingsIn(blocks('data'), 'data.'),
    variables: named('variable'),
    outputs: named('output'),
    calls: named('module'),
    locals: new Set(blocks('locals').flatMap((block) => Object.keys(block))),
    settings: blocks('terraform'),
  };
}

export const thingsIn = (blocks: Record<string, Json>[], prefix: '' | 'data.'): Thing[] =>
  blocks.flatMap((block) =>
    Object.entries(block).flatMap(([type, named]) =>
      Object.entries(named as Record<string, Thing['body']>).map(([name, body]) => ({
        type: `${prefix}${type}`,
        name,
        address: `${prefix}${type}.${name}`,
        body,
      })),
    ),
  );

/** @param text of HCL @returns comments and descriptions taken out: they may name anything */
const bare = (text: string): string =>
  text
    .replace(/^\s*#.*$/gm, '')
    .replace(/^\s*(?:description|error_message|source)\s*=\s*"(?:[^"\\]|\\.)*"/gm, '');
