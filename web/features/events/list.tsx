import { problemWords } from '../../api/request.ts';
import { clockWords, formatDateTime, formatDuration, formatZone, NOTHING } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { ProblemNotice } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { useServices } from '../../state/hooks.ts';
import type { Listed, useDeviceEvents } from './history.ts';
import { listed } from './history.ts';
import '../shared/tables.css';

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
