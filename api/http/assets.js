import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, sep } from 'node:path';

/**
 * A file as it is sent.
 *
 * @typedef {object} Asset
 * @property {string} type its extension, which stands for the media type
 * @property {Buffer} body
 * @property {string} etag
 */

/** @param {string} path @returns {Asset} */
export function readAsset(path) {
  const body = readFileSync(path);
  return { type: extname(path), body, etag: etagOf(body) };
}

/** @param {Buffer} body @returns {string} */
export const etagOf = (body) => `"${createHash('sha256').update(body).digest('base64').slice(0, 22)}"`;

/**
 * The files of a folder, in memory. A page asks for a hundred of them at once, of a process that ingests: opened and read
 * one by one (express.static) each waits four times for its turn of the event loop. What is edited is read again; a file that is new is known
 * after the next start.
 *
 * @param {string} dir
 */
export function createAssets(dir) {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length));
  /** By name, `/` between folders; null: not asked for yet. @type {Map<string, { at: number, asset: Asset } | null>} */
  const files = new Map(names.map((name) => [name.replaceAll(sep, '/'), null]));

  return {
    /** @param {string} name below the folder @returns {Asset | null} null: there is no such file */
    get(name) {
      const known = files.get(name);
      if (known === undefined) return null;
      const path = join(dir, name);
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (at === undefined) return null;
      if (known?.at === at) return known.asset;
      const asset = readAsset(path);
      files.set(name, { at, asset });
      return asset;
    },
  };
}

/** @typedef {ReturnType<typeof createAssets>} Assets */
