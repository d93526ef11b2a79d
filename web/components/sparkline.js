import { html } from 'htm/preact';

const WIDTH = 100;
const HEIGHT = 24;
const MARGIN = 2;

/**
 * A small line without axes; it decorates a number that is written beside it, so it is hidden from screen readers.
 *
 * @param {object} props
 * @param {{ x: number, y: number }[]} props.points oldest first
 * @param {{ x: number, y: number }[]} [props.second] a line above it on the same scale, drawn fainter
 * @param {number} [props.floor] y that is always on the scale: 0 for rates
 * @param {number} [props.span] width of the x axis, newest at the right; default: as far as the points reach
 */
export function Sparkline({ points, second = [], floor, span }) {
  const scale = scaleOf([...points, ...second], floor, span);
  const line = pathOf(points, scale);
  return html`
    <svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      ${floor !== undefined && line && html`<path class="sparkline-area" d=${areaOf(points, scale)} />`}
      ${second.length > 2 && html`<path class="sparkline-second" d=${pathOf(second, scale)} />`}
      ${line && html`<path class="sparkline-line" d=${line} />`}
    </svg>
  `;
}

/** @typedef {{ x: (x: number) => number, y: (y: number) => number }} Scale */

/** @param {{ x: number, y: number }[]} points @param {number} [floor] @param {number} [span] @returns {Scale} */
function scaleOf(points, floor, span) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const right = Math.max(...xs);
  const width = span ?? (right - Math.min(...xs) || 1);
  const bottom = Math.min(...ys, floor ?? Number.POSITIVE_INFINITY);
  const height = Math.max(...ys) - bottom;
  return {
    x: (x) => WIDTH - ((right - x) / width) * WIDTH,
    // A flat line lies on the floor if there is one, else in the middle.
    y: (y) => {
      const share = height > 0 ? (y - bottom) / height : floor === undefined ? 0.5 : 0;
      return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN);
    },
  };
}

/** @param {{ x: number, y: number }[]} points @param {Scale} scale @returns {string} empty for fewer than three points: two make a slope that means nothing */
function pathOf(points, scale) {
  if (points.length < 3) return '';
  return `M${points.map(({ x, y }) => `${scale.x(x).toFixed(1)} ${scale.y(y).toFixed(1)}`).join('L')}`;
}

/** @param {{ x: number, y: number }[]} points @param {Scale} scale */
function areaOf(points, scale) {
  const first = scale.x(points[0]?.x ?? 0).toFixed(1);
  const last = scale.x(points.at(-1)?.x ?? 0).toFixed(1);
  return `${pathOf(points, scale)}L${last} ${HEIGHT}L${first} ${HEIGHT}Z`;
}
