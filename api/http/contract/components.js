import { z } from 'zod';

/**
 * @param {Record<string, z.ZodType>} named
 * @returns {Record<string, object>} as JSON Schema, which refer to each other under `#/components/schemas`
 */
export function componentSchemas(named) {
  /** @type {z.core.$ZodRegistry<{ id?: string | undefined }>} */
  const registry = z.registry();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { ...schema.meta(), id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

/** @param {string} name @returns {{ $ref: string }} */
export const refTo = (name) => ({ $ref: `#/components/schemas/${name}` });
