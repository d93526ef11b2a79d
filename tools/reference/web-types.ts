import { readFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import { CONTRACTS } from '../../api/features/index.ts';
import { openApiDocument } from '../../api/http/index.ts';

const NAMES = new URL('../../web/api/types.ts', import.meta.url);

/** The schemas of the OpenAPI document that `web/api/types.ts` names, and the schemas in them, as TypeScript. */
export async function webTypes(): Promise<string> {
  const { components } = openApiDocument(CONTRACTS, { version: '', guarded: true });
  const names = Array.from(
    readFileSync(NAMES, 'utf8').matchAll(/\bschemas\.([A-Z]\w+)/g),
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
  return text
    .replace(/export interface Root \{[^}]*\}\n/, '')
    .replaceAll(/^ *\* (?:@m..Items|Items:) .*\n/gm, '')
    .replaceAll(/^ *\/\*\*\n(?: *\*\n)* *\*\/\n/gm, '')
    .replaceAll(/^( *)\/\*\*\n *\* (.*)\n(?: *\*\n)* *\*\//gm, '$1/** $2 */');
}

/** Without the description that each use would repeat. */
const PLAIN = { Id: { type: 'string' }, Name: { type: 'string' }, Time: { type: 'string' } };

const withPairs = (_: string, schema: { minItems?: number; maxItems?: number } | null) =>
  schema?.minItems === 2 && schema.maxItems === 2 ? { tsType: '[number, number]' } : schema;
