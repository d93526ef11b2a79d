import { useMemo, useRef } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import { emptyShape } from '../../chart/shape.ts';
import { TimeChart } from '../../chart/signal-chart.tsx';
import { clockWords, formatDateTime, formatDuration, formatTime, formatZone, NOTHING } from '../../format.ts';
import { STATE_WORDS } from '../../kit/device-title.tsx';
import { OtherZone } from '../../kit/figure.tsx';
import { ProblemNotice } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import {
  happenedAt,
  isUnwatched,
  listed,
  onlineSpans,
  spanAt,
  useEventsOf,
  useUnwatched,
} from '../../state/device-events.ts';
import { useServices } from '../../state/hooks.ts';
import { bandPlugin, paintBand } from './chart-plugins.ts';
import './device.css';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Plugin } from 'uplot';
import type { DeviceInfo, Presence } from '../../api/types.ts';
import type { Gutter } from '../../chart/options.ts';
import type { Shape } from '../../chart/shape.ts';
import type { useWindow } from '../../chart/window.ts';
import type {
  Listed,
  ReadTime,
  Unwatched,
  UnwatchedRecord,
  useDeviceEvents,
} from '../../state/device-events.ts';
import type { Stale } from '../../state/verdict.ts';
import type { Band } from './chart-plugins.ts';

const UNWATCHED = 'No process watched: state unknown';
const NOTHING_READ: ReadTime = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };

const WORDS = { birth: 'Birth', online: 'Online', offline: 'Offline' };

/** Renders the table of births, online and offline events, newest first: time, event, and duration online. */
export function EventList({
  history,
  online,
  isImported,
}: {
  history: ReturnType<typeof useDeviceEvents>;
  online: boolean;
  /** whether all samples of the device are from files */
  isImported: boolean;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { events, problem, reload, more, busy } = history;

  if (problem && !events) return <ProblemNotice problem={problem} onRetry={reload} />;
  if (events?.length === 0) {
    return (
      <>
        <h2 class="panel-title">Events</h2>
        <p class="none">
          {isImported
            ? 'None. The samples of this device were imported from a file. It has sent no message yet.'
            : 'None yet. Devices publish births and status messages. This one has only sent measurements, and counts as online for five minutes after each.'}
        </p>
      </>
    );
  }
  const rows = events ? listed(events) : null;
  const head = rows?.[0]?.ts ?? Date.now();
  const current = online && rows ? currentOf(rows) : undefined;
  return (
    <>
      <Table
        class="samples events"
        caption="Events, newest first"
        isTitled
        rows={rows}
        keyOf={({ ts, kind }) => `${ts} ${kind}`}
        expected={4}
        aria-busy={events === null}
        columns={[
          {
            label: `Time ${formatZone(zone, head)}`,
            cell: ({ ts }) => (
              <>
                <time datetime={new Date(ts).toISOString()}>{formatDateTime(ts, zone)}</time>
                <OtherZone ts={ts} head={head} />
              </>
            ),
          },
          {
            label: 'Event',
            width: '5.25rem',
            cell: ({ kind, clockOffset }) => (
              <>
                <span class="event" data-kind={kind}>
                  {WORDS[kind]}
                </span>
                {clockOffset !== null && <span class="event-clock"> {clockWords(clockOffset)}</span>}
              </>
            ),
          },
          {
            label: 'Online for',
            class: 'number',
            width: '6.5rem',
            cell: (event) => (event === current ? <SoFar from={event.ts} /> : onlineText(event)),
          },
        ]}
      />
      {problem && (
        <p class="slow" role="alert">
          {problemWords(problem).title}.{' '}
          <button type="button" class="button" onClick={reload}>
            Try again
          </button>
        </p>
      )}
      {more && (
        <p class="more small">
          <button type="button" class="button" disabled={busy} onClick={more}>
            Show earlier ones
          </button>
        </p>
      )}
    </>
  );
}

/** @returns the event that began the current online time */
function currentOf(rows: Listed[]): Listed | undefined {
  const end = rows.findIndex(({ kind }) => kind === 'offline');
  return rows.slice(0, end === -1 ? rows.length : end).findLast(({ kind }) => kind === 'online');
}

function onlineText({ kind, ts, onlineFrom }: Listed): string | false {
  return kind === 'offline' && (onlineFrom === null ? NOTHING : formatDuration(ts - onlineFrom));
}

/** Renders the duration of the current online time. @param props `from`: start in epoch ms */
function SoFar({ from }: { from: number }) {
  const { clock } = useServices();
  const now = clock.time.value;
  return (
    <>
      <span title="Still online">{formatDuration(Math.max(now - from, 0))}</span>
      <span class="visually-hidden"> so far</span>
    </>
  );
}

/** Renders the availability band above the charts: online times and births of the device, and the time labels of all charts. */
export function EventStrip({
  device,
  newest,
  plugins: marks,
  stale,
  time,
  cursorKey,
  cursor,
  describedBy,
  gutter,
}: {
  device: DeviceInfo;
  newest: string | null;
  /** draw marks in the band; the array stays the same while the view exists */
  plugins: readonly Plugin[];
  stale: Stale | null;
  time: ReturnType<typeof useWindow>;
  cursorKey: string;
  /** time in epoch ms of the cursor that all charts share */
  cursor: Signal<number | null>;
  describedBy: string;
  gutter: Gutter;
}) {
  const { window, bounds, change, reset } = time;
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  // During a gesture, the range is not read yet.
  const known = useEventsOf(device.device_id, time.settled, newest);
  const record = useUnwatched(time.settled);
  const { shape, band } = useMemo(() => pictureOf(known, record), [known, record]);
  const drawn = { ...band, now: bounds.now, staleSince: stale?.since ?? null };
  const current = useRef(drawn);
  current.current = drawn;
  const plugins = useMemo(() => {
    const onCursor = (ts: number | null) => {
      cursor.value = ts;
    };
    return [bandPlugin(() => current.current, onCursor, paintBand, gutter), ...marks];
  }, [cursor, gutter, marks]);

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
        onWindow={change}
        onReset={reset}
        onPlace={nothing}
        inWords={inWords}
        cursorKey={cursorKey}
        plugins={plugins}
        describedBy={describedBy}
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
const MOST_READ = 10;

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
    .slice(-MOST_READ)
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
