/**
 * A panel before it has a place.
 *
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} description normal and abnormal values; the (i) of the panel shows it
 * @property {string} unit of Grafana's: `s`, `short`, `bytes`, `percentunit`, `reqps`
 * @property {Record<string, string>} queries PromQL by legend
 * @property {'timeseries' | 'stat'} [type] default: timeseries
 * @property {number} [width] of 24; default: 12
 * @property {number} [limit] drawn as a line that should not be crossed
 */

/** Chosen on top of the dashboard. */
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

const HEIGHT = { timeseries: 8, stat: 4 };

/**
 * @param {Panel} panel
 * @param {number} id
 * @param {{ x: number, y: number, w: number, h: number }} gridPos
 */
const placed = ({ title, description, unit, queries, type = 'timeseries', limit }, id, gridPos) => ({
  id,
  type,
  title,
  description,
  datasource: DATASOURCE,
  gridPos,
  targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
    refId: String.fromCharCode(65 + at),
    datasource: DATASOURCE,
    expr,
    legendFormat,
    instant: type === 'stat',
  })),
  fieldConfig: {
    defaults: {
      unit,
      min: unit === 'percentunit' ? 0 : undefined,
      custom: type === 'timeseries' ? { fillOpacity: 8, thresholdsStyle: lineAt(limit) } : undefined,
      thresholds: {
        mode: 'absolute',
        steps: [
          { color: 'green', value: null },
          ...(limit === undefined ? [] : [{ color: 'red', value: limit }]),
        ],
      },
    },
    overrides: [],
  },
  options: type === 'timeseries' ? { tooltip: { mode: 'multi', sort: 'desc' } } : { colorMode: 'value' },
});

/** @param {number | undefined} limit */
const lineAt = (limit) => ({ mode: limit === undefined ? 'off' : 'line' });

/**
 * Panels in rows, as words in lines: one goes to the next row where it finds no room.
 *
 * @param {Panel[]} panels
 */
export function inRows(panels) {
  let x = 0;
  let y = 0;
  let rowHeight = 0;
  return panels.map((panel, at) => {
    const w = panel.width ?? 12;
    const h = HEIGHT[panel.type ?? 'timeseries'];
    if (x + w > 24) {
      x = 0;
      y += rowHeight;
      rowHeight = 0;
    }
    const gridPos = { x, y, w, h };
    x += w;
    rowHeight = Math.max(rowHeight, h);
    return placed(panel, at + 1, gridPos);
  });
}
