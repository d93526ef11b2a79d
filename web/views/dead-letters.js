import { html } from 'htm/preact';
import { Choice } from '../components/choice.js';
import { Notice, ProblemNotice } from '../components/notice.js';
import { Bars, BinsTable } from '../dead-letters/bars.js';
import { CodeTable } from '../dead-letters/codes.js';
import { binsOf, chosenBin, RANGES, rangeOf, sumOf, useCounts } from '../dead-letters/counts.js';
import { DeadLetterPage } from '../dead-letters/dead-letter.js';
import { DeadLetterList } from '../dead-letters/dead-letter-list.js';
import { formatCounted, formatDateTime } from '../format.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { useFiguresAlone } from '../state/stats.js';

/** @import { Bin } from '../dead-letters/counts.js' */
/** @import { Place } from '../state/router.js' */

/** Refused measurements and the reasons: counts over time, a list, and one dead letter in detail. */
export function DeadLettersView() {
  const { router } = useServices();
  const place = useObservable(router.place);
  const id = place.query.get('id');
  useFiguresAlone();
  if (id) return html`<${DeadLetterPage} key=${id} id=${id} backHref=${withQuery(place, { id: null })} />`;
  return html`<${Overview} place=${place} />`;
}

/** @param {{ place: Place }} props */
function Overview({ place }) {
  const { preferences, router } = useServices();
  const { zone } = useObservable(preferences);
  const range = rangeOf(place.query);
  const bin = chosenBin(place.query, range);
  const { hours, span, reached, problem, reload } = useCounts(range);
  const bins = binsOf(hours, span, range.binMs);
  const sum = sumOf(bins);
  const isCounted = reached <= span.from;
  const isKnown = reached !== Number.POSITIVE_INFINITY;
  useTitle('Dead letters');

  /** @param {number | null} at epoch ms */
  const narrowed = (at) => ({
    at: at === null ? null : new Date(at).toISOString(),
    cursor: null,
    since: null,
  });
  return html`
    <div class="title">
      <div>
        <h1>Dead letters</h1>
        <p class="lead">Messages with refused measurements and the reasons. MQTT does not report them to the sender. They are kept for 14 days.</p>
      </div>
      <${Choice}
        legend="Range"
        options=${RANGES}
        value=${range.value}
        onChange=${(/** @type {string} */ value) => router.changeQuery({ ...narrowed(null), range: value }, { replace: true })}
      />
    </div>
    <section class="panel" aria-label="Refused over time" aria-busy=${!isCounted}>
      ${
        problem && !isCounted
          ? html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`
          : isCounted && sum.deadLetters === 0
            ? html`<${NothingRefused} range=${range} place=${place} />`
            : html`
                <${Totals} sum=${sum} words=${range.words} isKnown=${isKnown} reached=${isCounted ? null : formatDateTime(isKnown ? reached : span.to, zone)} />
                ${problem && html`<p class="slow" role="status">What came last is not counted: ${problem.message}. It is tried again by itself.</p>`}
                <${Bars}
                  bins=${bins}
                  chosen=${bin}
                  zone=${zone}
                  reached=${isKnown ? reached : span.to}
                  onChoose=${(/** @type {Bin} */ { from }) => router.changeQuery(narrowed(from === bin?.from ? null : from))}
                />
                <${BinsTable} bins=${bins} zone=${zone} hrefOf=${(/** @type {Bin} */ { from }) => withQuery(place, narrowed(from))} />
                ${isKnown && html`<${CodeTable} codes=${sum.codes} chosen=${place.query.get('code')} hrefOf=${(/** @type {string} */ code) => withQuery(place, { code })} />`}
              `
      }
    </section>
    ${(sum.deadLetters > 0 || bin || !isCounted) && html`<${DeadLetterList} span=${span} bin=${bin} count=${sum.deadLetters} />`}
  `;
}

/**
 * @param {object} props
 * @param {Bin} props.sum
 * @param {string} props.words of the range
 * @param {boolean} props.isKnown
 * @param {string | null} props.reached to when it is counted back, while that goes on
 */
const Totals = ({ sum, words, isKnown, reached }) => html`
  <p class="totals" role="status">
    ${
      isKnown
        ? html`<strong>${formatCounted(sum.total, 'measurement')}</strong> refused,${' '}
            in <strong>${formatCounted(sum.deadLetters, 'dead letter')}</strong> of the last ${words}`
        : 'Counting …'
    }
    ${isKnown && reached && html`<span class="quiet"> · counted back to ${reached}, going on</span>`}
  </p>
`;

/** @param {{ range: typeof RANGES[number], place: Place }} props */
const NothingRefused = ({ range, place }) => html`
  <${Notice} title=${`Nothing was refused in the last ${range.words}`} tone="good">
    <p>Every measurement that came was stored.</p>
    ${range.value !== '14d' && html`<p><a class="button" href=${withQuery(place, { range: '14d' })}>Look at 14 days</a></p>`}
  <//>
`;
