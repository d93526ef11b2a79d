import { html } from 'htm/preact';
import { formatCount, formatMs, formatRate } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { Figure } from './figure.js';
import { Sparkline } from './sparkline.js';

/** Seconds that the sparklines reach back: one minute at first, growing to five. */
const SPAN = { least: 60, most: 300 };

/** @typedef {import('../api/types.js').Stats} Stats */

/** What the pipeline does right now, with the last five minutes behind it. */
export function PipelineFigures() {
  const { live } = useParts();
  const stats = useObservable(live.stats);
  const now = stats.at(-1);
  const span = Math.min(Math.max(stats.length, SPAN.least), SPAN.most);
  /** @param {(one: Stats) => number | undefined} read undefined: no point there */
  const line = (read) =>
    stats.flatMap((one, x) => {
      const y = read(one);
      return y === undefined ? [] : [{ x, y }];
    });

  return html`
    <dl class="figures" aria-label="The pipeline now">
      <${Figure} label="Samples stored" value=${formatRate(now?.samples_per_s)} unit="/s">
        <${Sparkline} points=${line((one) => one.samples_per_s)} floor=${0} span=${span} />
      <//>
      <${Figure}
        label="Time to commit"
        value=${formatMs(now?.commit_ms?.p50)}
        unit="ms p50"
        second=${formatMs(now?.commit_ms?.p99)}
        secondUnit="ms p99"
      >
        <${Sparkline}
          points=${line((one) => one.commit_ms.p50 ?? undefined)}
          second=${line((one) => one.commit_ms.p99 ?? undefined)}
          floor=${0}
          span=${span}
        />
      <//>
      <${Figure} label="In flight" value=${formatCount(now?.in_flight)} unit="requests">
        <${Sparkline} points=${line((one) => one.in_flight)} floor=${0} span=${span} />
      <//>
      <${Figure}
        label="Refused"
        value=${formatRate(now?.refused_per_s)}
        unit="/s"
        tone=${now && now.refused_per_s > 0 ? 'warn' : undefined}
      >
        <${Sparkline} points=${line((one) => one.refused_per_s)} floor=${0} span=${span} />
      <//>
    </dl>
  `;
}
