import { LOOKS } from '../state/cell-state.js';

/** @import { Palette } from './painter.js' */

/**
 * The colours of the theme as they are now, read off the legend: what it shows is what is drawn.
 *
 * @param {HTMLElement} legend with one `[data-look]` for each look
 * @returns {Palette}
 */
export function readPalette(legend) {
  const style = getComputedStyle(legend);
  return {
    looks: Array.from({ length: LOOKS }, (_, look) => {
      const swatch = legend.querySelector(`[data-look="${look}"]`);
      return swatch ? getComputedStyle(swatch).color : style.color;
    }),
    ground: style.getPropertyValue('--surface'),
    card: style.getPropertyValue('--off-card'),
    ink: style.getPropertyValue('--ink'),
    quiet: style.getPropertyValue('--ink-2'),
    font: style.fontFamily,
  };
}
