import { Choice } from '../components/controls.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { Bars, BinsTable } from '../dead-letters/bars.tsx';
import { CodeTable } from '../dead-letters/codes.tsx';
import { binsOf, chosenBin, RANGES, rangeOf, sumOf, useCounts } from '../dead-letters/counts.ts';
import { DeadLetterPage } from '../dead-letters/dead-letter.tsx';
import { DeadLetterList } from '../dead-letters/dead-letter-list.tsx';
import { UnmatchedTopics } from '../dead-letters/unmatched-topics.tsx';
import { formatCounted, formatDateTime } from '../format.ts';
import { withQuery } from '../routes.ts';
import { useServices, useTitle } from '../state/hooks.ts';
import { useFiguresAlone } from '../state/stats.ts';
import '../styles/tables.css';
import '../styles/dead-letters.css';
import type { Bin } from '../dead-letters/counts.ts';
import type { Place } from '../routes.ts';

/** Refusals and their reasons: counts over time, a list, one dead letter in detail, and unmatched topics. */
export function DeadLettersView() {
  const { router } = useServices();
  const place = router.place.value;
  const id = place.query.get('id');
  useFiguresAlone();
  if (id) return <DeadLetterPage key={id} id={id} backHref={withQuery(place, { id: null })} />;
  return <Overview place={place} />;
}

function Overview({ place }: { place: Place }) {
  const { preferences, router } = useServices();
  const { zone } = preferences.choice.value;
  const range = rangeOf(place.query);
  const bin = chosenBin(place.query, range);
  const { hours, span, reached, problem, reload } = useCounts(range);
  const bins = binsOf(hours, span, range.binMs);
  const sum = sumOf(bins);
  const isCounted = reached <= span.from;
  const isKnown = reached !== Number.POSITIVE_INFINITY;
  useTitle('Dead letters');

  /** @param at epoch ms */
  const narrowed = (at: number | null) => ({
    at: at === null ? null : new Date(at).toISOString(),
    cursor: null,
    since: null,
  });
  return (
    <>
      <div class="title">
        <div>
          <h1>Dead letters</h1>
          <p class="lead">
            Messages that were refused in whole or in part, and the reasons. MQTT 5 reports them to the
            sender, MQTT 3.1.1 does not. They are kept for 14 days.
          </p>
        </div>
        <Choice
          legend="Range"
          options={RANGES}
          value={range.value}
          onChange={(value: string) =>
            router.changeQuery({ ...narrowed(null), range: value }, { replace: true })
          }
        />
      </div>
      <section class="panel" aria-label="Refused over time" aria-busy={!isCounted}>
        {problem && !isCounted ? (
          <ProblemNotice problem={problem} onRetry={reload} />
        ) : isCounted && sum.deadLetters === 0 ? (
          <NothingRefused range={range} place={place} />
        ) : (
          <>
            <Totals
              sum={sum}
              words={range.words}
              isKnown={isKnown}
              reached={isCounted ? null : formatDateTime(isKnown ? reached : span.to, zone)}
            />
            {problem && (
              <p class="slow" role="status">
                What came last is not counted: {problem.message}. It is tried again by itself.
              </p>
            )}
            <Bars
              bins={bins}
              chosen={bin}
              zone={zone}
              reached={isKnown ? reached : span.to}
              onChoose={({ from }: Bin) => router.changeQuery(narrowed(from === bin?.from ? null : from))}
            />
            <BinsTable bins={bins} zone={zone} hrefOf={({ from }: Bin) => withQuery(place, narrowed(from))} />
            {isKnown && (
              <CodeTable
                codes={sum.codes}
                chosen={place.query.get('code')}
                hrefOf={(code: string) => withQuery(place, { code, cursor: null, since: null })}
              />
            )}
          </>
        )}
      </section>
      {(sum.deadLetters > 0 || bin || !isCounted) && (
        <DeadLetterList span={span} bin={bin} count={sum.deadLetters} />
      )}
      <UnmatchedTopics />
    </>
  );
}

const Totals = ({
  sum,
  words,
  isKnown,
  reached,
}: {
  sum: Bin;
  /** of the range */
  words: string;
  isKnown: boolean;
  /** to when it is counted back, while that goes on */
  reached: string | null;
}) => (
  <p class="totals" role="status">
    {isKnown ? (
      <>
        <strong>{formatCounted(sum.total, 'refusal')}</strong> in{' '}
        <strong>{formatCounted(sum.deadLetters, 'dead letter')}</strong> of the last {words}
      </>
    ) : (
      'Counting …'
    )}
    {isKnown && reached && <span class="quiet"> · counted back to {reached}, going on</span>}
  </p>
);

const NothingRefused = ({ range, place }: { range: (typeof RANGES)[number]; place: Place }) => (
  <Notice title={`Nothing was refused in the last ${range.words}`} tone="good">
    <p>Every measurement that came was stored.</p>
    {range.value !== '14d' && (
      <p>
        <a class="button" href={withQuery(place, { range: '14d' })}>
          Look at 14 days
        </a>
      </p>
    )}
  </Notice>
);
