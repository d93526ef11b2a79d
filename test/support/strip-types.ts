import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** Lets jest load TypeScript as Node.js does: types become spaces, so each line keeps its number. */
export default {
  process: (source: string) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
  getCacheKey: (source: string, path: string): string =>
    createHash('sha1').update(`${process.version}\0${path}\0${source}`).digest('hex'),
};
