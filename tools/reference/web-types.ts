import { readdirSync, readFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import { CONTRACTS } from '../../api/features/index.ts';
import { openApiDocument } from '../../api/http/index.ts';

const ROOT = new URL('../../', import.meta.url);

/** The files of types that the dashboard and each of its features use, by path, with the functions that generate them. */
export function webTypeFiles(): Record<string, () => Promise<string>> {
  const named = readdirSync(new URL('web/features', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/api\.ts$/.test(path))
    .sort()
    .map((path) => [`web/features/${path.replace('api.ts', 'schemas.ts')}`, `web/features/${path}`]);
  const all = [['web/api/schemas.ts', 'web/api/types.ts'], ...named];
  return Object.fromEntries(all.map(([types = '', names = '']) => [types, () => webTypes(names)]));
}

/**
 * @param path of a file that names schemas
 * @returns TypeScript types of these schemas, and of the schemas to which they refer
 */
async function webTypes(path: string): Promise<string> {
  const { components } = openApiDocument(CONTRACTS, { version: '', guarded: true });
  const names = Array.from(
    readFileSync(new URL(path, ROOT), 'utf8').matchAll(/\bschemas\.([A-Z]\w+)/g),
    ([, name]) => name,
  );
  const root = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }])),
    components: { schemas: { ...components.schemas, ...PLAIN } },
  };
  const text = await compile(JSON.parse(JSON.stringify(root), withPairs), 'Root', {
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    bannerComment: '// Generated from the OpenAPI document by `npm run docs:reference`.',
    style: { singleQuote: true, printWidth: 110 },
  });
  // The dashboard needs no type for the root, and comments without the limits of arrays. Then empty comments are
  // removed, and comments of one line are written on one line.
  return text
    .replace(/export interface Root \{[^}]*\}\n/, '')
    .replaceAll(/^ *\* (?:@m..Items|Items:) .*\n/gm, '')
    .replaceAll(/^ *\/\*\*\n(?: *\*\n)* *\*\/\n/gm, '')
    .replaceAll(/^( *)\/\*\*\n *\* (.*)\n(?: *\*\n)* *\*\//gm, '$1/** $2 */');
}

/** Replace schemas whose description would be repeated at each use. */
const PLAIN = { Id: { type: 'string' }, Name: { type: 'string' }, Time: { type: 'string' } };

/** For `JSON.stringify`: an array of exactly two items becomes a pair of numbers. */
const withPairs = (_: string, schema: { minItems?: number; maxItems?: number } | null) =>
  schema?.minItems === 2 && schema.maxItems === 2 ? { tsType: '[number, number]' } : schema;
