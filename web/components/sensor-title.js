import { html } from 'htm/preact';
import { hueOf } from '../format.js';
import { keyOf } from '../state/live.js';
import { Age } from './age.js';
import { TypeDot } from './type-name.js';
import { Usual } from './usual.js';
import { Value } from './value.js';

/** @import { LatestItem } from '../api/types.js' */

/**
 * Which sensor, and what it says now.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {LatestItem | null} props.item null: not known yet
 * @param {{ ts: number, value: number }[]} props.recent
 * @param {boolean} props.isOld the connection is lost
 */
export function SensorTitle({ name, item, recent, isOld }) {
  return html`
    <div class="title">
      <div>
        <h1><${TypeDot} type=${item?.type ?? null} />${name}</h1>
        <ul class="facts">
          ${item && item.name === null && html`<li>no name told yet</li>`}
          <li>${item?.type ?? 'type not told yet'}</li>
          ${item?.site && html`<li><a href=${`/?site=${encodeURIComponent(item.site)}`}>${item.site}</a></li>`}
        </ul>
      </div>
      <div class="now-block" data-stale=${isOld}>
        <p class="now hue-${hueOf(item?.type ?? null)}">
          <${Value} value=${item?.value ?? null} unit=${item?.unit ?? null} ts=${item?.ts ?? null} recent=${recent} />
          <${Age} ts=${item?.ts ?? null} />
        </p>
        ${item && html`<${Usual} key=${keyOf(item)} item=${item} recent=${recent} />`}
      </div>
    </div>
  `;
}
