import { html } from 'htm/preact';
import { Example } from './example.js';
import { Markdown } from './markdown.js';
import { Type } from './type.js';

/**
 * A named shape, with its members where it is an object.
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
