import { html } from 'htm/preact';
import { Markdown } from './markdown.js';

/**
 * A named schema, with the members of an object.
 *
 * @param {{ name: string, schema: any }} props
 */
export const Schema = ({ name, schema }) => html`
  <article id=${`schema-${name}`} class="entry">
    <h3><code>${name}</code> <a class="anchor" href=${`#schema-${name}`} aria-label="Link to this">#</a></h3>
    <${Markdown} text=${schema.description} />
    ${schema.properties ? html`<${Members} schema=${schema} />` : html`<p><${Type} schema=${schema} /></p>`}
    <${Example} value=${schema.examples?.[0]} />
  </article>
`;

/** @param {{ schema: any }} props */
const Members = ({ schema: { properties, required = [] } }) => html`
  <dl class="members">
    ${Object.entries(properties).map(
      ([name, member]) => html`
        <dt>
          <code>${name}</code>
          ${required.includes(name) || html`<span class="quiet">optional</span>`}
        </dt>
        <dd>
          <${Type} schema=${member} />
          <${Markdown} text=${member.description} />
        </dd>
      `,
    )}
  </dl>
`;

const REF = '#/components/schemas/';

/**
 * The type of a value in a few words. A name links to its schema.
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
    return choices.map((/** @type {any} */ choice, /** @type {number} */ at) => [
      at > 0 ? ' | ' : '',
      partsOf(choice),
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

/** @param {{ value: unknown }} props JSON, or a text as it is */
export const Example = ({ value }) =>
  value !== undefined &&
  html`<pre class="example" tabindex="0">${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`;
