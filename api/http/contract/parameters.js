import { z } from 'zod';

/** What stands in braces in a path. */
const IN_PATH = {
  device: {
    description: 'A device: its UUID in lower case, or its name, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'my-desk',
  },
  sensor: {
    description: 'A sensor of the device: its UUID in lower case, or its name, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'temperature',
  },
  id: {
    description: 'A dead letter, as `GET /api/v1/dead-letters` names it.',
    schema: { type: 'string', format: 'uuid' },
    example: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
  },
};

/** @param {string} path @returns {string[]} what stands in its braces */
const named = (path) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));

/**
 * @param {string} path with its parameters in braces
 * @returns {object[]} as OpenAPI has them
 * @throws {Error} one of them is not described
 */
export const pathParameters = (path) =>
  named(path).map((name) => {
    const described = IN_PATH[/** @type {keyof typeof IN_PATH} */ (name)];
    if (!described) throw new Error(`${path}: {${name}} is not described in IN_PATH`);
    return { name, in: 'path', required: true, ...described };
  });

/**
 * @param {import('zod').ZodRawShape} shape of a query
 * @returns {object[]} as OpenAPI has them; what a field says of itself is in its `meta`
 */
export const queryParameters = (shape) =>
  Object.entries(shape).map(([name, field]) => {
    const schema = /** @type {z.ZodType} */ (field);
    const { $schema, description, example, means, ...described } = z.toJSONSchema(schema, { io: 'input' });
    if (!description) throw new Error(`the query parameter ${name} has no description`);
    const absent = schema.safeParse(undefined);
    return {
      name,
      in: 'query',
      required: !absent.success,
      description,
      schema: {
        .../** @type {object} */ (means ?? described),
        ...(absent.data === undefined ? {} : { default: absent.data }),
      },
      ...(example === undefined ? {} : { example }),
    };
  });
