import { html } from 'htm/preact';

const REF = '#/components/schemas/';

/**
 * What a value is, in few words; a name leads to its shape.
 *
 * @param {{ schema: any }} props
 */
export const Type = ({ schema }) => html`<span class="type">${partsOf(schema)}${limitsOf(schema)}</span>`;

/** @param {any} schema @returns {any} */
function partsOf(schema) {
  const { $ref, anyOf, oneOf, items, type, const: only, enum: values, properties } = schema;
  if ($ref) {
    const name = $ref.slice(REF.length);
    return html`<a href=${`#schema-${name}`}>${name}</a>`;
  }
  const choices = anyOf ?? oneOf;
  if (choices)
    return choices.map((/** @type {any} */ one, /** @type {number} */ at) => [
      at > 0 ? ' | ' : '',
      partsOf(one),
    ]);
  if (only !== undefined) return JSON.stringify(only);
  if (values) return values.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(' | ');
  if (type === 'array') return ['list of ', items ? partsOf(items) : 'anything'];
  if (properties) return ['{ ', Object.keys(properties).join(', '), ' }'];
  if (schema.additionalProperties?.type) return ['by name: ', partsOf(schema.additionalProperties)];
  return [type ?? 'anything'].flat().join(' | ');
}

/** @param {any} schema @returns {string} */
function limitsOf({ minimum, maximum, exclusiveMinimum, maxItems, default: fallback, format }) {
  const parts = [];
  if (format) parts.push(format);
  if (minimum !== undefined && Number.isSafeInteger(maximum) && maximum < Number.MAX_SAFE_INTEGER) {
    parts.push(`${minimum} to ${maximum}`);
  } else if (minimum !== undefined) parts.push(`${minimum} or more`);
  if (exclusiveMinimum !== undefined) parts.push(`more than ${exclusiveMinimum}`);
  if (maxItems !== undefined) parts.push(`${maxItems} at most`);
  if (fallback !== undefined) parts.push(`${fallback} unless given`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}
