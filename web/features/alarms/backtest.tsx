import { keyOf } from '../../api/stream/index.ts';
import { formatCounted, formatDateClock, formatDateTime, formatDuration } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import type { Scale } from '../../units.ts';
import { limitText } from '../shared/limits.ts';
import type { Backtest, PastEpisode } from './api.ts';

const WIDTH = 1000;
const ROW = 14;

/** Minimum width of a bar, so that it stays visible. */
const LEAST_WIDTH = 2;

/** Maximum number of drawn sensors. */
const MOST_ROWS = 12;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Renders the times when a rule would have fired: a line for each sensor, a bar for each alarm. The lines begin with the oldest
 * sample.
 *
 * @param props `onLimit`: receives a suggested limit in the unit that the sensor sends
 */
export function BacktestStrip({
  result,
  isOld,
  scale,
  onLimit,
}: {
  result: Backtest;
  /** whether the rule has changed since this backtest */
  isOld: boolean;
  /** the scale in which limits are typed */
  scale: Scale;
  onLimit: (limit: number) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const from = Date.parse(result.stored_from ?? result.from);
  const to = Date.parse(result.to);
  const place = (text: string) => ((Date.parse(text) - from) / Math.max(1, to - from)) * WIDTH;
  const rows = rowsOf(result.items).slice(0, MOST_ROWS);
  const hours = result.total_ms / HOUR_MS;
  return (
    <section class="backtest" aria-label="When it would have fired" aria-busy={isOld}>
      {isOld ? (
        <p role="status">Testing the rule…</p>
      ) : (
        <p role="status">
          <strong>{formatCounted(result.count, 'alarm')}</strong> {historyText(result)}, of{' '}
          {formatCounted(result.sensors, 'sensor')}
          {result.count > 0 && `, ${hours < 1 ? 'less than an hour' : `${Math.round(hours)} h`} in all`}
          {result.partial && '. The scope has more sensors than one test reads'}.
        </p>
      )}
      {!isOld && result.without_interval > 0 && (
        <p class="backtest-warning">
          {formatCounted(result.without_interval, 'sensor has', 'sensors have')} no interval, so the rule
          never fires there. Enter a duration in minutes instead.
        </p>
      )}
      <svg viewBox={`0 0 ${WIDTH} ${ROW * Math.max(1, rows.length)}`} preserveAspectRatio="none" role="img">
        <title>{`Alarms from ${formatDateTime(from, zone)} to ${formatDateTime(to, zone)}`}</title>
        {rows.map((items, row) => (
          <g key={`${items[0]?.device_id}/${items[0]?.sensor_id}`}>
            <line class="backtest-line" x1={0} x2={WIDTH} y1={ROW * (row + 0.5)} y2={ROW * (row + 0.5)} />
            {items.map((item) => {
              const left = place(item.started_at);
              const right = place(item.cleared_at ?? result.to);
              return (
                <rect
                  key={item.started_at}
                  class="backtest-bar"
                  x={left}
                  y={ROW * (row + 0.15)}
                  width={Math.max(LEAST_WIDTH, right - left)}
                  height={ROW * 0.7}
                >
                  <title>{`${item.device ?? item.device_id} · ${item.sensor ?? item.sensor_id}: ${formatDateTime(Date.parse(item.opened_at), zone)}`}</title>
                </rect>
              );
            })}
          </g>
        ))}
      </svg>
      <p class="backtest-ends small" aria-hidden="true">
        <span>{formatDateClock(from, zone)}</span>
        <span>{formatDateClock(to, zone)}</span>
      </p>
      <p class="backtest-choices">
        {result.fewer_alarms && (
          <Suggestion word="Fewer alarms" {...result.fewer_alarms} {...{ isOld, scale, onLimit }} />
        )}
        {result.more_alarms && (
          <Suggestion word="More alarms" {...result.more_alarms} {...{ isOld, scale, onLimit }} />
        )}
      </p>
    </section>
  );
}

/** Returns the text about the history that a backtest read. If less than a day is missing, the range counts as complete. */
function historyText({
  from,
  to,
  stored_from,
  stored_to,
}: Pick<Backtest, 'from' | 'to' | 'stored_from' | 'stored_to'>): string {
  const rangeMs = Date.parse(to) - Date.parse(from);
  if (stored_from === null || stored_to === null)
    return `because no samples of the last ${formatDuration(rangeMs)} were read`;
  const storedMs = Date.parse(stored_to) - Date.parse(stored_from);
  if (storedMs > rangeMs - DAY_MS && rangeMs > DAY_MS) return `in ${formatDuration(rangeMs)}`;
  if (storedMs === 0) return 'at the one time that is stored';
  return `in the ${formatDuration(storedMs)} that are stored`;
}

function rowsOf(items: PastEpisode[]): PastEpisode[][] {
  const rows: Map<string, PastEpisode[]> = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const row = rows.get(key);
    if (row) row.push(item);
    else rows.set(key, [item]);
  }
  return [...rows.values()];
}

/**
 * Renders a button that suggests a limit with its number of alarms. The limit keeps all digits, because a rounded limit has
 * another number of alarms. A press makes the suggestion old. The button is not `disabled` then, because a disabled button
 * would lose the focus.
 */
function Suggestion({
  word,
  limit,
  count,
  isOld,
  scale,
  onLimit,
}: {
  word: string;
  /** in the unit that the sensor sends */
  limit: number;
  count: number;
  isOld: boolean;
  scale: Scale;
  onLimit: (limit: number) => void;
}) {
  return (
    <button
      type="button"
      class="button"
      aria-disabled={isOld}
      onClick={isOld ? undefined : () => onLimit(limit)}
    >
      {word}: {`${limitText(scale, limit)} ${scale.unit}`.trim()} ({formatCounted(count, 'alarm')})
    </button>
  );
}
