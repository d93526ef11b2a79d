import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { usePlot } from '../chart/use-plot.js';
import { formatTime } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { SPAN_MS } from '../state/recent-stats.js';
import { stripOptions } from './strip-options.js';
import { StripTable } from './strip-table.js';

/** @import { Moment } from '../state/recent-stats.js' */

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {(moment: Moment) => number | null} read
 */

/**
 * Figures of the last five minutes, and the same as a table.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.unit
 * @param {Line[]} props.lines one or two
 * @param {Moment[]} props.moments
 * @param {(value: number | null) => string} props.format
 */
export function StripChart({ title, unit, lines, moments, format }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const [point, setPoint] = useState(/** @type {number | null} */ (null));
  const shown = useRef(moments);
  shown.current = moments;
  const { host, chart } = usePlot(
    (element, inZone) => {
      const options = stripOptions({
        host: element,
        zone: inZone,
        lines: lines.length,
        onPoint: setPoint,
      });
      const plot = new uPlot(options, [[]], element);
      show(plot, lines, shown.current);
      return { plot };
    },
    [lines],
  );
  useLayoutEffect(() => {
    if (chart.current) show(chart.current, lines, moments);
  }, [lines, moments]);

  const moment = (point === null ? null : moments[point]) ?? moments.at(-1);
  return html`
    <section class="panel strip" aria-label=${title}>
      <div class="strip-head">
        <h2>${title}</h2>
        <p class="strip-told">
          ${moment && point !== null && html`<span>${formatTime(moment.at, zone)}</span>`}
          ${lines.map(({ name, read }) => html`<span key=${name} class="strip-figure">${name} <strong>${format(moment ? read(moment) : null)}</strong> ${unit}</span>`)}
        </p>
      </div>
      <div class="strip-chart" ref=${host} role="img" aria-label=${`${title} of the last five minutes; the table below says the same`}></div>
      <${StripTable} title=${title} unit=${unit} lines=${lines} moments=${moments} format=${format} zone=${zone} />
    </section>
  `;
}

/** @param {uPlot} chart @param {Line[]} lines @param {Moment[]} moments */
function show(chart, lines, moments) {
  const to = moments.at(-1)?.at ?? Date.now();
  chart.batch(() => {
    chart.setData([moments.map(({ at }) => at), ...lines.map(({ read }) => moments.map(read))], false);
    chart.setScale('x', { min: to - SPAN_MS, max: to });
  });
}
