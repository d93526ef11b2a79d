import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { Choice } from '../components/choice.js';
import { ProblemNotice, SlowLine } from '../components/notice.js';
import { QuietRange } from '../components/quiet-range.js';
import { SampleFigures } from '../components/sample-figures.js';
import { SampleTable } from '../components/sample-table.js';
import { SensorChart } from '../components/sensor-chart.js';
import { SensorTitle } from '../components/sensor-title.js';
import { Trail } from '../components/trail.js';
import { formatCount, formatDateTime } from '../format.js';
import { deviceHref } from '../routes.js';
import { useObservable, useParts } from '../state/hooks.js';
import { RANGES, rangeOf } from '../state/ranges.js';
import { between } from '../state/samples.js';
import { useSamples } from '../state/use-samples.js';
import { useSensor } from '../state/use-sensor.js';
import { useTitle } from '../state/use-title.js';

/**
 * One sensor: what it says now, its chart, and the same in figures.
 *
 * @param {{ device: string, sensor: string }} props ids or names
 */
export function SensorView({ device, sensor }) {
  const { clock, preferences, router } = useParts();
  const place = useObservable(router.place);
  const now = useObservable(clock);
  const { zone } = useObservable(preferences);
  const { range, until } = rangeOf(place.query);
  const [round, setRound] = useState(0);
  const { data, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const history = useSamples(data, range.ms, until, round);

  // A device whose clock is ahead of ours is shown too: the right edge is the newest sample, if that is later than now.
  const to = until ?? Math.max(now, history.samples.ts.at(-1) ?? 0);
  const from = to - range.ms;
  const shown = useMemo(() => between(history.samples, from, to + 1), [history.samples, from, to]);
  const name = item?.name ?? sensor;
  const deviceName = item?.device ?? device;
  useTitle(`${name} · ${deviceName}`);

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  return html`
    <${Trail} steps=${[
      { label: 'Fleet', href: '/' },
      { label: deviceName, href: deviceHref(item?.device_id ?? device) },
    ]} />
    <${SensorTitle} name=${name} item=${item} recent=${recent} />
    ${slow && html`<${SlowLine} />`}
    <div class="split">
    <section class="panel" aria-label="Chart" aria-busy=${history.loading}>
      <div class="panel-head">
        <${Choice}
          legend="Range"
          options=${RANGES}
          value=${range.value}
          onChange=${(/** @type {string} */ value) => router.changeQuery({ range: value }, { replace: true })}
        />
        <p class="panel-note">
          ${
            until === null
              ? history.truncated && `The newest ${formatCount(shown.ts.length)} samples of this range`
              : html`until ${formatDateTime(until, zone)}
                  <button type="button" class="button" onClick=${() => router.changeQuery({ to: null })}>Back to now</button>`
          }
        </p>
      </div>
      ${
        history.problem
          ? html`<${ProblemNotice} problem=${history.problem} onRetry=${() => setRound(round + 1)} />`
          : html`<${SensorChart}
            name=${name}
            type=${item?.type ?? null}
            unit=${item?.unit ?? null}
            intervalMs=${data?.interval_ms ?? null}
            samples=${history.samples}
            from=${from}
            to=${to}
          >
            ${shown.ts.length === 0 && html`<${QuietRange} loading=${history.loading} newest=${item?.ts ?? null} />`}
          <//>`
      }
      <${SampleFigures} samples=${shown} unit=${item?.unit ?? null} />
    </section>
    <section class="panel" aria-label="Samples">
      <${SampleTable} samples=${shown} unit=${item?.unit ?? null} />
    </section>
    </div>
  `;
}
