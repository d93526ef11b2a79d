import { html } from 'htm/preact';
import { Markdown } from './markdown.js';
import { Type } from './type.js';

/**
 * One topic: who speaks on it, and what it carries.
 *
 * @param {{ id: string, channel: any, operation: any }} props
 */
export const Channel = ({ id, channel, operation }) => html`
  <article id=${id} class="entry">
    <h3>
      <span class=${`method method-${operation.action}`}>${operation.action === 'send' ? 'hear' : 'publish'}</span>
      <code>${channel.address}</code>
      <a class="anchor" href=${`#${id}`} aria-label="Link to this">#</a>
    </h3>
    <p class="summary">${channel.title}</p>
    <${Markdown} text=${channel.description} />
    <p class="quiet">QoS ${operation.bindings.mqtt.qos}</p>
    <h4>Levels of the topic</h4>
    <dl class="members">
      ${Object.entries(channel.parameters).map(
        ([name, { description, enum: values, examples }]) => html`
          <dt><code>${name}</code></dt>
          <dd>
            ${values && html`<span class="type">${values.join(' | ')}</span>`}
            <${Markdown} text=${description} />
            ${examples && html`<p class="quiet">For example <code>${examples[0]}</code></p>`}
          </dd>
        `,
      )}
    </dl>
    <h4>Payload${Object.keys(channel.messages).length > 1 ? ', one of' : ''}</h4>
    <ul class="media">
      ${Object.values(channel.messages).map(
        ({ contentType, summary, payload }) => html`
          <li>
            <code>${contentType}</code> <${Type} schema=${payload} />
            <${Markdown} text=${`${summary}.`} />
          </li>
        `,
      )}
    </ul>
  </article>
`;
