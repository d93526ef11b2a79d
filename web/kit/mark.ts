/** The spokes of the mill wheel of the logo, and the mill race below. web/public/mark.svg is the same drawing. */
export const WHEEL =
  'M12 4.9l4.59-2.3M15.18 6.22l4.87 1.62M16.5 9.4l2.3 4.59M15.18 12.58l-1.62 4.87M12 13.9l-4.59 2.3M8.82 12.58l-4.87-1.62M7.5 9.4 5.2 4.81M8.82 6.22l1.62-4.87';
export const RACE =
  'M1.5 21.6c1.75 0 1.75-1.5 3.5-1.5s1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5';

const DOT = '<circle cx="17" cy="7" r="6.5" fill="#d3222a" stroke="#fff" stroke-width="1.5" />';

/** @returns address of the icon of the page, with a red dot if something is critical */
export const iconOf = (isCritical: boolean): string =>
  `data:image/svg+xml,${encodeURIComponent(`
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#1c8fa3" stroke-width="1.7" stroke-linecap="round">
  <circle cx="12" cy="9.4" r="4.5" />
  <path d="${WHEEL}" />
  <path stroke-width="2" d="${RACE}" />
  ${isCritical ? DOT : '<circle cx="12" cy="9.4" r="0.6" />'}
</svg>`)}`;
