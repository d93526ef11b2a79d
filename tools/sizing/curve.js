import { escaped } from '../bench/report/chart.js';
import { countText } from './report.js';

/** A line of the picture, from left to right. @typedef {{ name: string, points: Array<{ x: number, y: number }> }} Curve */

/**
 * Curves over two scales of powers of ten, with marks where something ends. Words in a grey that can be read on white and
 * on black.
 *
 * @param {object} picture
 * @param {string} picture.title
 * @param {[number, number]} picture.x from and to
 * @param {[number, number]} picture.y
 * @param {Curve[]} picture.curves
 * @param {Array<{ x: number, label: string, isHard: boolean }>} picture.marks numbered, and explained below
 * @returns {string} SVG
 */
export function curvePicture({ title, x, y, curves, marks }) {
  const at = { x: scale(x, LEFT, LEFT + WIDTH), y: scale(y, TOP + HEIGHT, TOP) };
  const bottom = TOP + HEIGHT;
  const legendTop = bottom + 62;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + RIGHT} ${legendTop + marks.length * LINE}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<text x="${LEFT}" y="18" fill="${INK}" font-size="13" font-weight="600">${escaped(title)}</text>`,
    ...powersOf(x).flatMap((power) => [
      lineOf({ x1: at.x(power), x2: at.x(power), y1: TOP, y2: bottom, of: FAINT }),
      textOf(at.x(power), bottom + 18, countText(power), 'middle'),
    ]),
    ...powersOf(y).flatMap((power) => [
      lineOf({ x1: LEFT, x2: LEFT + WIDTH, y1: at.y(power), y2: at.y(power), of: FAINT }),
      textOf(LEFT - 8, at.y(power) + 4, countText(power), 'end'),
    ]),
    textOf(LEFT + WIDTH / 2, bottom + 36, 'sensors', 'middle'),
    ...marks.flatMap((mark, index) => [
      lineOf({ x1: at.x(mark.x), x2: at.x(mark.x), y1: TOP, y2: bottom, of: mark.isHard ? HARD : STEP }),
      textOf(at.x(mark.x) + 3, TOP + 12 + (index % ROWS_OF_NUMBERS) * 14, String(index + 1), 'start'),
      textOf(LEFT, legendTop + index * LINE, `${index + 1}  ${countText(mark.x)}: ${mark.label}`, 'start'),
    ]),
    ...curves.flatMap(({ name, points }, index) => {
      const path = points.map((point) => `${at.x(point.x).toFixed(1)},${at.y(point.y).toFixed(1)}`).join(' ');
      const last = points[points.length - 1] ?? { x: x[0], y: y[0] };
      return [
        `<polyline points="${path}" fill="none" stroke="${COLORS[index]}" stroke-width="2.5"/>`,
        textOf(LEFT + WIDTH + 8, at.y(last.y) + 4, `${name}: ${countText(last.y)}`, 'start'),
      ];
    }),
    '</svg>',
    '',
  ].join('\n');
}

/** @param {[number, number]} range @param {number} from px @param {number} to px @returns {(value: number) => number} */
const scale =
  ([least, most], from, to) =>
  (value) =>
    from + ((Math.log10(value) - Math.log10(least)) / (Math.log10(most) - Math.log10(least))) * (to - from);

/** @param {[number, number]} range @returns {number[]} */
const powersOf = ([least, most]) =>
  Array.from({ length: Math.round(Math.log10(most / least)) + 1 }, (_, at) => least * 10 ** at);

/** @param {{ x1: number, x2: number, y1: number, y2: number, of: string }} line */
const lineOf = ({ x1, x2, y1, y2, of }) =>
  `<line x1="${x1.toFixed(1)}" x2="${x2.toFixed(1)}" y1="${y1.toFixed(1)}" y2="${y2.toFixed(1)}" ${of}/>`;

/** @param {number} x @param {number} y @param {string} label @param {'start' | 'middle' | 'end'} anchor */
const textOf = (x, y, label, anchor) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${INK}" text-anchor="${anchor}">${escaped(label)}</text>`;

/** All in px. */
const TOP = 34;
const LEFT = 84;
const WIDTH = 600;
const HEIGHT = 330;
const RIGHT = 210;
const LINE = 18;

/** Numbers of marks that stand close are one below the other. */
const ROWS_OF_NUMBERS = 4;

/** A contrast of 4.5 : 1 and more against white and against GitHub's black. */
const INK = '#737c87';
const COLORS = ['#2f81f7', '#c97b1a'];
const FAINT = `stroke="${INK}" stroke-opacity="0.18"`;
const STEP = `stroke="${INK}" stroke-opacity="0.7" stroke-dasharray="2 4"`;
const HARD = 'stroke="#e5534b" stroke-dasharray="6 4"';
