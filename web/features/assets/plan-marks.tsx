import type { TargetedPointerEvent } from 'preact';
import { useCallback, useRef } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import { formatAge, NOTHING } from '../../format.ts';
import { sensorHref } from '../../routes.ts';
import { CURRENT, describeOldCell, oldAfterMs, SILENT } from '../../state/cells.ts';
import { useChanges, useServices } from '../../state/hooks.ts';
import { sensorValueText } from '../../units.ts';
import type { AssetPlan } from './api.ts';
import type { Editing } from './plan.tsx';
import type { Conditions } from './use-tree.ts';

export type Mark = AssetPlan['places'][number];

/** Follows the newest value of a sensor. A new value redraws only its mark. */
function useSensorAt(mark: Mark) {
  const { live, clock, preferences } = useServices();
  const key = keyOf(mark);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const item = live.sensor(key)?.item ?? null;
  const now = clock.time.value;
  const at = item?.ts ? Date.parse(item.ts) : 0;
  const isOld = Boolean(item?.interval_ms) && now - at > oldAfterMs(item?.interval_ms ?? 0);
  return {
    device: item?.device ?? mark.device_id,
    name: item?.name ?? mark.sensor_id,
    value: item ? sensorValueText(item, preferences.choice.value.units) : NOTHING,
    age: at === 0 ? '' : formatAge(now - at),
    // A large fleet is not held, so its state is that of the age.
    cellState: live.fleet.sensors.get(key)?.cellState ?? (isOld ? SILENT : CURRENT),
  };
}

export function PlacedSensor({ mark, conditions }: { mark: Mark; conditions: Conditions }) {
  const { device, name, value, age, cellState } = useSensorAt(mark);
  const { open = 0, critical = 0 } = conditions.alarms.get(keyOf(mark)) ?? {};
  const state = open > 0 ? 'Alarm' : describeOldCell(cellState);
  return (
    <a
      class="plan-mark"
      href={sensorHref(mark.device_id, mark.sensor_id, { device, sensor: name })}
      title={[`${name} of ${device}`, age, state].filter(Boolean).join(', ')}
      data-tone={critical > 0 ? 'bad' : open > 0 ? 'warn' : undefined}
    >
      <span class="plan-name small">{name}</span>
      <span class="plan-value">
        <i class="swatch" data-cell-state={cellState} aria-hidden="true" />
        <b>{value}</b>
        {open > 0 && <span aria-hidden="true">▲</span>}
      </span>
      {state && <span class="visually-hidden">{state}</span>}
    </a>
  );
}

const DIRECTIONS: Record<string, [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Part of the width or height by which an arrow key moves a mark, without and with Shift. */
const KEY_STEPS = { small: 0.01, large: 0.1 };

/** Renders a mark that pointer and arrow keys move. */
export function EditedMark({ mark, move, remove }: Pick<Editing, 'move' | 'remove'> & { mark: Mark }) {
  const { device, name, value } = useSensorAt(mark);
  const held = useRef<{ x: number; y: number; mark: Mark } | null>(null);
  const { x, y } = mark;

  function onPointerDown(event: TargetedPointerEvent<HTMLElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    held.current = { x: event.clientX, y: event.clientY, mark };
  }

  function onPointerMove(event: TargetedPointerEvent<HTMLElement>) {
    const start = held.current;
    const room = event.currentTarget.closest('ul')?.getBoundingClientRect();
    if (!start || !room) return;
    move(mark, {
      x: start.mark.x + (event.clientX - start.x) / room.width,
      y: start.mark.y + (event.clientY - start.y) / room.height,
    });
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Delete') return remove(mark);
    const direction = DIRECTIONS[event.key];
    if (!direction) return;
    event.preventDefault();
    const step = event.shiftKey ? KEY_STEPS.large : KEY_STEPS.small;
    move(mark, { x: x + direction[0] * step, y: y + direction[1] * step });
  }

  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const release = () => {
    held.current = null;
  };
  return (
    <button
      type="button"
      class="plan-mark"
      data-edited="true"
      aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown Delete"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={release}
      onPointerCancel={release}
      onKeyDown={onKeyDown}
    >
      <span class="plan-name small">{name}</span>
      <span class="visually-hidden">{`of ${device}, ${percent(x)} from the left, ${percent(y)} from the top`}</span>
      <b>{value}</b>
    </button>
  );
}
