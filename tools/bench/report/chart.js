/**
 * Bars side by side, as SVG without a background: its colors can be read on white and on black alike.
 *
 * @param {object} chart
 * @param {string} chart.title what is shown, with its unit
 * @param {string[]} chart.series names of the bars of a group
 * @param {Array<{ name: string, values: number[], note: string }>} chart.groups `note` stands behind the first bar
 * @returns {string} SVG
 */
export function barChart({ title, series, groups }) {
  const most = Math.max(...groups.flatMap(({ values }) => values));
  const groupHeight = series.length * BAR + GAP;
  const height = TOP + groups.length * groupHeight;
  const legend = series.map((name, index) => {
    const x = LEFT + index * LEGEND_WIDTH;
    return `<rect x="${x}" y="30" width="10" height="10" fill="${COLORS[index]}"/>${text(x + 16, 39, name)}`;
  });
  const bars = groups.flatMap(({ name, values, note }, group) => {
    const top = TOP + group * groupHeight;
    return [
      text(LEFT - 8, top + (series.length * BAR) / 2 + 4, name, 'end'),
      ...values.map((value, index) => {
        const y = top + index * BAR;
        const width = Math.max(1, (value / most) * WIDTH);
        const label = `${shown(value)}${index === 0 && note ? ` · ${note}` : ''}`;
        return (
          `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" rx="2" fill="${COLORS[index]}"/>` +
          text(LEFT + width + 6, y + BAR - 5, label)
        );
      }),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + RIGHT} ${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<text x="${LEFT}" y="16" fill="${INK}" font-size="13" font-weight="600">${escaped(title)}</text>`,
    ...legend,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
}

/** A grey with a contrast of 4.5 : 1 and more against white and against GitHub's black. */
const INK = '#737c87';
const COLORS = ['#2f81f7', '#c97b1a', '#6e9e6a', '#a371f7'];

/** All in px. */
const TOP = 58;
const LEFT = 64;
const WIDTH = 560;
const RIGHT = 190;
const BAR = 16;
const GAP = 14;
const LEGEND_WIDTH = 170;

/** @param {number} x @param {number} y @param {string} label @param {'start' | 'end'} [anchor] */
const text = (x, y, label, anchor = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y}" fill="${INK}" text-anchor="${anchor}">${escaped(label)}</text>`;

/** @param {number} value @returns {string} three digits at the most behind nothing */
const shown = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** @param {string} label @returns {string} as it stands in the text or in an attribute of an SVG */
const escaped = (label) =>
  label.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
