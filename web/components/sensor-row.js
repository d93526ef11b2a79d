import { html } from 'htm/preact';
import { useCallback } from 'preact/hooks';
import { hueOf, NOTHING } from '../format.js';
import { deviceHref, sensorHref } from '../routes.js';
import { useChanges, useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { Age } from './age.js';
import { Sparkline } from './sparkline.js';
import { TypeDot } from './type-name.js';
import { Value } from './value.js';

/** @import { LatestItem } from '../api/types.js' */

/** A sparkline is this wide at least: all rows begin with the same scale of time. */
const LEAST_SPAN_MS = 60_000;

/**
 * One sensor with its newest value; draws itself anew when that changes, and nothing else.
 *
 * @param {object} props
 * @param {LatestItem} props.item as the page gave it
 * @param {boolean} [props.ofDevice] its device and site are said already
 * @param {((filter: { type?: string, site?: string }) => string)} [props.filterHref] where a type or site leads
 */
export function SensorRow({ item, ofDevice = false, filterHref }) {
  const { live } = useParts();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
  const device = now.device ?? now.device_id;

  return html`
    <tr>
      <th scope="row">
        <a class="row-link" href=${sensorHref(now.device_id, now.sensor_id)}>
          <${TypeDot} type=${now.type} />${now.name ?? now.sensor_id}
        </a>
        ${!ofDevice && html`<span class="under">${device}</span>`}
      </th>
      ${!ofDevice && html`<td class="col-device"><a href=${deviceHref(now.device_id)}>${device}</a></td>`}
      <td class="col-type"><${Word} text=${now.type} href=${now.type && filterHref?.({ type: now.type })} /></td>
      ${
        !ofDevice &&
        html`<td class="col-site"><${Word} text=${now.site} href=${now.site && filterHref?.({ site: now.site })} /></td>`
      }
      <td class="col-spark hue-${hueOf(now.type)}">
        <${Sparkline} points=${recent.map(({ ts, value }) => ({ x: ts, y: value }))} span=${spanOf(recent)} />
      </td>
      <td class="col-value"><${Value} value=${now.value} unit=${now.unit} ts=${now.ts} recent=${recent} decimals=${live.decimals(now)} /></td>
      <td class="col-age"><${Age} ts=${now.ts} /></td>
    </tr>
  `;
}

/** @param {{ ts: number }[]} recent @returns {number} ms */
const spanOf = (recent) => Math.max(LEAST_SPAN_MS, (recent.at(-1)?.ts ?? 0) - (recent[0]?.ts ?? 0));

/** @param {{ text: string | null, href?: string | null }} props */
function Word({ text, href }) {
  if (!text) return html`<span class="quiet">${NOTHING}</span>`;
  return href ? html`<a href=${href} title=${`Only ${text}`}>${text}</a>` : text;
}
