import { useMemo, useRef } from 'preact/hooks';
import { emptyShape } from '../../chart/shape.ts';
import { TimeChart } from '../../chart/signal-chart.tsx';
import { formatDateTime, formatDuration, formatTime } from '../../format.ts';
import { STATE_WORDS } from '../../kit/device-title.tsx';
import { useServices } from '../../state/hooks.ts';
import { bandPlugin } from './band.ts';
import { happenedAt, isUnwatched, onlineSpans, spanAt, useEventsOf, useUnwatched } from './history.ts';
import './events.css';
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Presence } from '../../api/types.ts';
import type { Shape } from '../../chart/shape.ts';
import type { TimeAxisProps } from '../../feature.ts';
import type { Band } from './band.ts';
import type { ReadTime, Unwatched, UnwatchedRecord } from './history.ts';

const UNWATCHED = 'No process watched: state unknown';
const NOTHING_READ: ReadTime = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Renders the availability band above the charts: online times and births of the device, and the time labels of all charts. */
export function EventStrip({
  device,
  newest,
  plugins: marks,
  stale,
  window,
  settled,
  bounds,
  cursor,
  ...chart
}: TimeAxisProps & { newest: string | null }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  // During a gesture, the range is not read yet.
  const known = useEventsOf(device.device_id, settled, newest);
  const record = useUnwatched(settled);
  const { shape, band } = useMemo(() => pictureOf(known, record), [known, record]);
  const drawn = { ...band, now: bounds.now, staleSince: stale?.since ?? null };
  const current = useRef(drawn);
  current.current = drawn;
  const plugins = useMemo(() => [bandPlugin(() => current.current), ...marks], [marks]);

  const asOf = stale && formatTime(stale.since, zone);
  const inWords = (place: number) => {
    const ts = shape.ts[place] ?? 0;
    return `${wordsAt(band, ts)}, ${formatDateTime(ts, zone)}`;
  };

  return (
    <div class="signal signal-times">
      <EventWords
        now={stateNow(device.state, known && band, asOf)}
        band={band}
        staleSince={drawn.staleSince}
        cursor={cursor}
      >
        <UnwatchedLegend unwatched={band.unwatched} window={window} />
      </EventWords>
      <TimeChart
        label="Online, offline, births and unwatched time; texts on this page have the same figures"
        shape={shape}
        intervalMs={null}
        window={window}
        bounds={bounds}
        onPlace={nothing}
        inWords={inWords}
        plugins={plugins}
        {...chart}
      />
    </div>
  );
}

const nothing = () => {};

/**
 * Combines events and unwatched times, in which no ingest process received samples. The state is known only where events and
 * unwatched times were both read. The two answers may cover other ranges.
 *
 * @returns `shape`: the times of events, and the starts and ends of unwatched times, at which arrow keys stop
 */
export function pictureOf(
  known: ReturnType<typeof useEventsOf>,
  record: UnwatchedRecord | null,
): { shape: Shape; band: Known } {
  const unwatched = record?.spans ?? [];
  const events = known?.events ?? [];
  const edges = unwatched.flatMap(({ from, to }) => [from, to]);
  const times = [...new Set([...events.map(({ ts }) => Date.parse(ts)), ...edges])].sort((a, b) => a - b);
  const level = times.map(() => 0);
  return {
    shape: { ...emptyShape({ from: 0, to: 0 }), ts: times, min: level, avg: level, max: level, count: level },
    band: {
      events,
      spans: onlineSpans(events, known?.onlineSince ?? null),
      births: events.filter(({ kind }) => kind === 'birth').map(({ ts }) => Date.parse(ts)),
      unwatched,
      knownFrom: known?.knownFrom ?? null,
      read: known && record ? commonTime(known.read, record.read) : NOTHING_READ,
    },
  };
}

const commonTime = (a: ReadTime, b: ReadTime): ReadTime => ({
  from: Math.max(a.from, b.from),
  to: Math.min(a.to, b.to),
});

type Known = Omit<Band, 'now' | 'staleSince'>;

/** Renders the state of the device at the cursor as text. Without a cursor, the current state is shown. */
function EventWords({
  now,
  band,
  staleSince,
  cursor,
  children,
}: {
  now: string;
  band: Known;
  /** time in epoch ms from which the state is unknown; null: the state is known up to now */
  staleSince: number | null;
  cursor: ReadonlySignal<number | null>;
  children: ComponentChildren;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const ts = cursor.value;
  const [head, words] =
    ts === null ? ['State', now] : [formatDateTime(ts, zone), wordsAt(band, ts, staleSince)];
  return (
    <p class="signal-text">
      <strong class="signal-state">{head}</strong>
      <span>{words}</span>
      {children}
    </p>
  );
}

/** Maximum number of spans in the text for screen readers. */
const MAX_READ = 10;

function UnwatchedLegend({
  unwatched,
  window,
}: {
  unwatched: Unwatched[];
  window: { from: number; to: number };
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const shown = unwatched.filter(({ from, to }) => to > window.from && from < window.to);
  if (shown.length === 0) return null;
  const times = shown
    .slice(-MAX_READ)
    .map(({ from, to }) => `${formatDateTime(from, zone)} to ${formatDateTime(to, zone)}`);
  const more = shown.length - times.length;
  if (more > 0) times.push(`and ${more} earlier`);
  return (
    <span class="signal-unwatched" title={times.join('\n')}>
      {UNWATCHED}
      <span class="visually-hidden">: {times.join(', ')}</span>
    </span>
  );
}

/**
 * Returns the text of the current state. If a device announces no state, its messages show that it is online, although the band
 * is empty.
 *
 * @param band null: events are unknown yet
 * @param asOf time of the last known state, as text; null: the state is current
 */
function stateNow(state: Presence, band: Known | null, asOf: string | null) {
  if (asOf) return `${STATE_WORDS[state]} at ${asOf}`;
  if (state !== 'online') return `${STATE_WORDS[state]} now`;
  const isAnnounced = !band || band.spans.length > 0 || band.events.some(({ kind }) => kind !== 'birth');
  return isAnnounced ? 'Online now' : 'Online now, by its messages';
}

/** @returns text about the state of the device at that time */
export function wordsAt(
  { events, spans, unwatched, knownFrom, read }: Known,
  ts: number,
  staleSince: number | null = null,
): string {
  if (staleSince !== null && ts > staleSince) return 'State unknown: no values arrive';
  if (ts < read.from || ts > read.to) return 'State unknown: events not read';
  if (knownFrom !== null && ts < knownFrom) return 'Too many events to show';
  const kinds = happenedAt(events, ts);
  if (kinds.includes('offline')) return wentOffline(spans, ts);
  if (kinds.length > 0) return kinds.join(', then ').replace(/^./, (first) => first.toUpperCase());
  if (isUnwatched(unwatched, ts)) return UNWATCHED;
  const span = spanAt(spans, ts);
  if (span) return `Online for ${formatDuration(ts - span.from)}`;
  return spans.length > 0 ? 'Offline' : 'State unknown';
}

function wentOffline(spans: Known['spans'], ts: number) {
  const span = spans.find(({ to }) => to === ts);
  return span ? `Offline, after ${formatDuration(ts - span.from)}` : 'Offline';
}
