import { html } from 'htm/preact';
import { Markdown } from './markdown.js';
import { Example, Type } from './schema.js';

/**
 * One route with one method: its parameters, its body and its answers.
 *
 * @param {{ method: string, path: string, operation: any }} props
 */
export const Operation = ({ method, path, operation }) => html`
  <article id=${operation.operationId} class="entry">
    <h3>
      <span class=${`method method-${method}`}>${method}</span> <code>${path}</code>
      <a class="anchor" href=${`#${operation.operationId}`} aria-label="Link to this">#</a>
    </h3>
    <p class="summary">${operation.summary}</p>
    <${Markdown} text=${operation.description} />
    ${operation.security.length > 0 && html`<p class="quiet">Needs a token of the scope <code>${operation.security[0].token[0]}</code>.</p>`}
    <${Parameters} parameters=${operation.parameters} />
    ${operation.requestBody && html`<h4>Body</h4><${Contents} content=${operation.requestBody.content} />`}
    <h4>Answers</h4>
    <dl class="answers">
      ${Object.entries(operation.responses).map(
        ([status, response]) => html`
          <dt><span class=${`status status-${status[0]}`}>${status}</span></dt>
          <dd><${Answer} response=${response} /></dd>
        `,
      )}
    </dl>
  </article>
`;

/** @param {{ parameters: any[] }} props */
const Parameters = ({ parameters }) =>
  parameters.length > 0 &&
  html`
    <h4>Parameters</h4>
    <dl class="members">
      ${parameters.map(
        ({ name, in: place, required, description, schema, example }) => html`
          <dt>
            <code>${name}</code>
            <span class="quiet">${place}${required ? ', required' : ''}</span>
          </dt>
          <dd>
            <${Type} schema=${schema} />
            <${Markdown} text=${description} />
            ${example !== undefined && html`<p class="quiet">For example <code>${String(example)}</code></p>`}
          </dd>
        `,
      )}
    </dl>
  `;

/** @param {{ response: any }} props */
const Answer = ({ response }) =>
  response.content['application/problem+json']
    ? html`<${Markdown} text=${response.description} />`
    : html`<${Contents} content=${response.content} />`;

/** @param {{ content: Record<string, any> }} props */
const Contents = ({ content }) => html`
  <ul class="media">
    ${Object.entries(content).map(
      ([type, { schema, example }]) => html`
        <li>
          <code>${type}</code> <${Type} schema=${schema} />
          <${Markdown} text=${schema.description} />
          <${Example} value=${example} />
        </li>
      `,
    )}
  </ul>
`;

/**
 * One topic: its direction, its levels and its payloads.
 *
 * @param {{ id: string, channel: any, operation: any }} props
 */
export const Channel = ({ id, channel, operation }) => html`
  <article id=${id} class="entry">
    <h3>
      <span class=${`method method-${operation.action}`}>${operation.action === 'send' ? 'subscribe' : 'publish'}</span>
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
