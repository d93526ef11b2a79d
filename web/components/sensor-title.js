import { html } from 'htm/preact';
import { hueOf } from '../format.js';
import { Age } from './age.js';
import { TypeDot } from './type-name.js';
import { Value } from './value.js';

/**
 * Which sensor, and what it says now.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {import('../api/types.js').LatestItem | null} props.item null: not known yet
 * @param {{ value: number }[]} props.recent
 */
export function SensorTitle({ name, item, recent }) {
  return html`
    <div class="title">
      <div>
        <h1><${TypeDot} type=${item?.type ?? null} />${name}</h1>
        <ul class="facts">
          <li>${item?.type ?? 'type not told yet'}</li>
          ${item?.site && html`<li><a href=${`/?site=${encodeURIComponent(item.site)}`}>${item.site}</a></li>`}
        </ul>
      </div>
      <p class="now hue-${hueOf(item?.type ?? null)}">
        <${Value} value=${item?.value ?? null} unit=${item?.unit ?? null} ts=${item?.ts ?? null} recent=${recent} />
        <${Age} ts=${item?.ts ?? null} />
      </p>
    </div>
  `;
}
