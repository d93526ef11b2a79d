import { html } from 'htm/preact';
import { Markdown } from './markdown.js';
import { Channel, Operation } from './operation.js';
import { Schema } from './schema.js';

/**
 * Both documents on one page, to be read and searched.
 *
 * @param {{ openApi: any, asyncApi: any }} documents
 */
export function Page({ openApi, asyncApi }) {
  const groups = groupsOf(openApi);
  const channels = channelsOf(asyncApi);
  const schemas = { ...asyncApi.components.schemas, ...openApi.components.schemas };
  return html`
    <div class="docs">
      <${Contents} version=${openApi.info.version} groups=${groups} channels=${channels} />
      <main id="main" tabindex="-1">
        <section id="http">
          <h1>HTTP</h1>
          <p class="raw">The same for programs: <a href="/openapi.json">/openapi.json</a>, OpenAPI ${openApi.openapi}</p>
          <${Markdown} text=${openApi.info.description} />
          ${groups.map(
            ({ name, description, operations }) => html`
              <h2 id=${`tag-${name}`}>${titleOf(name)}</h2>
              <p class="quiet">${description}</p>
              ${operations.map((entry) => html`<${Operation} key=${entry.operation.operationId} ...${entry} />`)}
            `,
          )}
        </section>
        <section id="mqtt">
          <h1>MQTT</h1>
          <p class="raw">The same for programs: <a href="/asyncapi.json">/asyncapi.json</a>, AsyncAPI ${asyncApi.asyncapi}</p>
          <${Markdown} text=${asyncApi.info.description} />
          ${channels.map((channel) => html`<${Channel} key=${channel.id} ...${channel} />`)}
        </section>
        <section id="schemas">
          <h1>Schemas</h1>
          ${Object.entries(schemas)
            .sort(([a], [b]) => a.localeCompare(b))
            .map(([name, schema]) => html`<${Schema} key=${name} name=${name} schema=${schema} />`)}
        </section>
      </main>
    </div>
  `;
}

/** @param {{ version: string, groups: Group[], channels: ReturnType<typeof channelsOf> }} props */
const Contents = ({ version, groups, channels }) => html`
  <nav class="contents" aria-label="Contents">
    <p class="quiet">Interfaces, version ${version}</p>
    <a href="#http">HTTP</a>
    ${groups.map(
      ({ name, operations }) => html`
        <a class="contents-group" href=${`#tag-${name}`}>${titleOf(name)}</a>
        <ul>
          ${operations.map(
            ({ method, path, operation }) => html`<li>
              <a href=${`#${operation.operationId}`}>
                <span class=${`method method-${method}`}>${method}</span>
                <span>${shortened(path)}</span>
              </a>
            </li>`,
          )}
        </ul>
      `,
    )}
    <a href="#mqtt">MQTT</a>
    <ul>
      ${channels.map(({ id, channel }) => html`<li><a href=${`#${id}`}>${channel.title}</a></li>`)}
    </ul>
    <a href="#schemas">Schemas</a>
  </nav>
`;

/** @typedef {{ name: string, description: string, operations: Array<{ method: string, path: string, operation: any }> }} Group */

/** @param {any} openApi @returns {Group[]} */
function groupsOf({ tags, paths }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return tags.map((/** @type {{ name: string, description: string }} */ tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
}

/** @param {any} asyncApi */
const channelsOf = ({ channels, operations }) =>
  Object.entries(channels).map(([id, channel]) => ({
    id,
    channel: /** @type {any} */ (channel),
    operation: /** @type {any} */ (
      Object.values(operations).find(
        (operation) => /** @type {any} */ (operation).channel.$ref === `#/channels/${id}`,
      )
    ),
  }));

/** @param {string} name `dead-letters`: `Dead letters` */
const titleOf = (name) => `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;

/** Shortens the path of a sensor, which is the same in every entry. @param {string} path */
const shortened = (path) =>
  path.replace('/api/v1', '').replace(/^\/devices\/\{device\}\/sensors\/\{sensor\}(?=\/)/, '…');
