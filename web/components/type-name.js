import { html } from 'htm/preact';
import { hueOf } from '../format.js';

/**
 * A dot in the hue of a sensor's type.
 *
 * @param {{ type: string | null }} props
 */
export const TypeDot = ({ type }) =>
  html`<span class="type-dot hue-${hueOf(type)}" aria-hidden="true"></span>`;
