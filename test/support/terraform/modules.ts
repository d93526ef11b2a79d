import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHcl } from '../../../infra/python/ensure.js';

/** @import { PythonTools } from '../../../infra/python/ensure.js' */

/**
 * A resource or a data source: `type` is as in lists of arguments (`aws_vpc`, `data.aws_vpc`), `address` as in references.
 *
 * @typedef {{ type: string, name: string, address: string, body: Record<string, any> }} Thing
 */

/**
 * A directory of Terraform, all its files as one.
 *
 * @typedef {object} Module
 * @property {string} directory
 * @property {string} text without comments and without what is in quotes, but for its expressions
 * @property {Thing[]} resources
 * @property {Thing[]} data
 * @property {Record<string, any>} variables
 * @property {Record<string, any>} outputs
 * @property {Record<string, any>} calls of other modules
 * @property {Set<string>} locals
 * @property {Record<string, any>[]} settings blocks `terraform`
 */

/**
 * @param {PythonTools} python
 * @param {string[]} directories
 * @returns {Promise<Map<string, Module>>} by directory
 */
export async function readModules(python, directories) {
  const filesIn = (/** @type {string} */ directory) =>
    readdirSync(directory)
      .filter((file) => file.endsWith('.tf'))
      .map((file) => join(directory, file));
  const read = await readHcl(python, directories.flatMap(filesIn));
  return new Map(directories.map((directory) => [directory, moduleOf(directory, filesIn(directory), read)]));
}

/** @param {string} directory @param {string[]} files @param {Record<string, any>} read @returns {Module} */
function moduleOf(directory, files, read) {
  const blocks = (/** @type {string} */ kind) => files.flatMap((file) => read[file][kind] ?? []);
  const named = (/** @type {string} */ kind) => Object.assign({}, ...blocks(kind));
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

/** @param {Record<string, any>[]} blocks @param {'' | 'data.'} prefix @returns {Thing[]} */
export const thingsIn = (blocks, prefix) =>
  blocks.flatMap((block) =>
    Object.entries(block).flatMap(([type, named]) =>
      Object.entries(/** @type {Record<string, any>} */ (named)).map(([name, body]) => ({
        type: `${prefix}${type}`,
        name,
        address: `${prefix}${type}.${name}`,
        body,
      })),
    ),
  );

/** @param {string} text of HCL @returns {string} comments and descriptions taken out: they may name anything */
const bare = (text) =>
  text
    .replace(/^\s*#.*$/gm, '')
    .replace(/^\s*(?:description|error_message|source)\s*=\s*"(?:[^"\\]|\\.)*"/gm, '');
