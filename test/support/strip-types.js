import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** Lets jest load TypeScript as Node.js does: types become spaces, so each line keeps its number. */
export default {
  /** @param {string} source */
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
  /** @param {string} source @param {string} path */
  getCacheKey: (source, path) =>
    createHash('sha1').update(`${process.version}\0${path}\0${source}`).digest('hex'),
};
