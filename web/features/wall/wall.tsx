import type { ComponentChildren } from 'preact';
import { useCallback, useRef, useState } from 'preact/hooks';
import { formatAge, formatCount, formatCounted, NOTHING } from '../../format.ts';
import { Slot, useJudgment } from '../../kit/slots.tsx';
import { sensorHref, withQuery } from '../../routes.ts';
import { describeOldCell } from '../../state/cells.ts';
import { useChanges, useServices } from '../../state/hooks.ts';
import { stateText } from '../../states.ts';
import { writeValue } from '../../units.ts';
import { shortNames } from './groups.ts';
import { useReturn, useWallCanvas } from './wall-canvas.ts';
import './wall.css';
import type { Judgment } from '../../feature.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import type { UnitChoices } from '../../units.ts';
import type { Box, Heading } from './wall-canvas.ts';

/** One cell for each sensor, by site or place, and by device. @param props `legend`: element from which the wall reads its colors */
export function Wall({
  legend: drawLegend,
  isStale,
}: {
  legend: (ref: { current: HTMLUListElement | null }) => ComponentChildren;
  isStale: boolean;
}) {
  const { router } = useServices();
  const { room, canvas, legend, picture, arranged } = useWallCanvas();
  const [pointed, setPointed] = useState<FleetSensor | null>(null);
  const byKeyboard = useRef(false);
  const comeBack = useCallback((sensor: FleetSensor) => {
    byKeyboard.current = true;
    setPointed(sensor);
  }, []);
  const element = useReturn(comeBack);

  const point = (event: PointerEvent) => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    byKeyboard.current = false;
    setPointed(picture.current?.sensorAt(event.clientX - left, event.clientY - top) ?? null);
  };

  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return setPointed(null);
    if (event.key === 'Enter' && pointed) return router.open(hrefOf(pointed), pointed.key);
    const next = picture.current?.byKey(pointed, event.key);
    if (!next) return undefined;
    event.preventDefault();
    byKeyboard.current = true;
    setPointed(next);
    const box = picture.current?.boxOf(next);
    if (box) showLine(event.currentTarget as HTMLElement, box);
    return undefined;
  };

  const box = pointed && picture.current?.boxOf(pointed);
  return (
    <>
      {arranged.matching !== null && (
        <p class="wall-matches" role="status">
          {formatCounted(arranged.matching, 'sensor matches', 'sensors match')} the filters.
        </p>
      )}
      <div class="wall-room" ref={room}>
        <div
          ref={element}
          class="wall-picture"
          role="application"
          aria-roledescription="wall of sensors"
          aria-label="All sensors, a cell each. Arrow keys move, Page Up and Page Down go from device to device, Enter opens the sensor."
          tabIndex={0}
          style={{ height: `${arranged.height}px` }}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={(event: PointerEvent) => event.pointerType === 'mouse' && setPointed(null)}
          onKeyDown={move}
          onBlur={() => setPointed(null)}
        >
          <canvas
            ref={canvas}
            aria-hidden="true"
            style={{ width: `${arranged.width}px`, height: `${arranged.height}px` }}
          />
          <Headings headings={arranged.headings} />
          <Slot name="wallMarks" picture={picture.current} arranged={arranged} />
          {pointed && box && (
            <>
              <a
                class="wall-cursor"
                href={hrefOf(pointed)}
                tabIndex={-1}
                aria-hidden="true"
                style={{
                  left: `${box.x}px`,
                  top: `${box.y}px`,
                  width: `${box.width}px`,
                  height: `${box.height}px`,
                }}
              />
              <Pointed
                sensor={pointed}
                box={box}
                room={arranged}
                said={byKeyboard.current}
                isStale={isStale}
              />
            </>
          )}
        </div>
      </div>
      {drawLegend(legend)}
    </>
  );
}

const hrefOf = ({ id, name, device }: FleetSensor) =>
  sensorHref(device.id, id, { device: device.name, sensor: name });

function Headings({ headings }: { headings: Heading[] }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const level = query.get('level');
  const names = shortNames(level === null ? [] : headings.flatMap(({ name }) => name ?? []));
  return headings.map((heading) => {
    const { name, below } = heading;
    // A link to a place shows the places below it. A link to what is chosen already shows all again.
    const filters: Record<string, string | null> =
      level === null
        ? { site: query.get('site') === name ? null : name }
        : query.get('place') === name
          ? { place: null }
          : { place: name, level: below ?? level };
    return (
      <GroupHeading
        key={name ?? ''}
        {...heading}
        name={name && (names.get(name) ?? name)}
        title={level === null ? null : name}
        nameless={`No ${level ?? 'site'}`}
        href={withQuery(router.place.value, { ...filters, cursor: null, page: null })}
      />
    );
  });
}

function GroupHeading({
  name,
  title,
  nameless,
  href,
  sensors,
  devices,
  x,
  y,
  width,
}: Heading & { title: string | null; nameless: string; href: string }) {
  const count =
    width > 240
      ? `${formatCounted(sensors, 'sensor')} · ${formatCounted(devices, 'device')}`
      : formatCount(sensors);
  return (
    <p class="wall-site small" style={{ left: `${x}px`, top: `${y}px`, width: `${width}px` }}>
      {name === null ? (
        <span class="wall-site-name">{nameless}</span>
      ) : (
        <a class="wall-site-name" href={href} title={title ?? undefined} tabIndex={-1}>
          {name}
        </a>
      )}
      <span>{count}</span>
    </p>
  );
}

/** Renders the card of the cell under the cursor. The clock updates the age on the card each second. */
function Pointed({
  sensor,
  box,
  room,
  said,
  isStale,
}: {
  sensor: FleetSensor;
  box: Box;
  room: { width: number };
  said: boolean;
  isStale: boolean;
}) {
  const { live, clock, preferences } = useServices();
  const now = clock.time.value;
  useChanges(live.watch);
  const { units: choices } = preferences.choice.value;
  const judgment = useJudgment();
  const facts = { sensor, now, choices, isStale, judgment };
  const first = useRef({ sensor, words: '' });
  // Each cell is announced once. Announcing a value that changes each second would interrupt the screen reader again
  // and again.
  if (first.current.sensor !== sensor || !first.current.words)
    first.current = { sensor, words: inWords(facts) };
  return (
    <>
      <CellCard {...facts} box={box} room={room} />
      {said && (
        <p class="visually-hidden" role="status">
          {first.current.words}
        </p>
      )}
    </>
  );
}

/** Scrolls the page as little as possible to show the line of the cursor. */
function showLine(wall: HTMLElement, box: Box) {
  const top = wall.getBoundingClientRect().top + box.y;
  if (top < 80) scrollBy({ top: top - 160 });
  else if (top + box.height > innerHeight - 40) scrollBy({ top: top + box.height - innerHeight + 120 });
}

interface Facts {
  sensor: FleetSensor;
  now: number;
  choices: UnitChoices;
  /** whether no values arrive, so that the value is old */
  isStale: boolean;
  judgment: Judgment | undefined;
}

/** Size of a card in px. */
const CARD = { width: 260, height: 96 };

function CellCard({ box, room, ...facts }: Facts & { box: Box; room: { width: number } }) {
  const { sensor, now, choices } = facts;
  const { number, unit } = writtenOf(sensor, choices);
  const left = Math.max(0, Math.min(box.x, room.width - CARD.width));
  const above = box.y > CARD.height + 8;
  const style = {
    left: `${left}px`,
    [above ? 'bottom' : 'top']: above ? `calc(100% - ${box.y - 8}px)` : `${box.y + box.height + 8}px`,
  };
  return (
    <div class="wall-card small" style={style}>
      <p class="wall-card-name">
        <b>{sensor.name}</b> <span>{sensor.device.name}</span>
      </p>
      <p class="wall-card-value">
        <b>{number}</b> <span>{unit}</span>
        <span class="wall-card-age">{ageOf(sensor, now)}</span>
      </p>
      <p>{judgementOf(facts)}</p>
    </div>
  );
}

function inWords(facts: Facts): string {
  const { sensor, now, choices } = facts;
  const { number, unit } = writtenOf(sensor, choices);
  const value = `${number} ${unit}`.trim();
  return `${sensor.name} of ${sensor.device.name}: ${value}, ${ageOf(sensor, now)}. ${judgementOf(facts)}`;
}

/** Returns the text of the judgment of the newest value. An old value is not judged. */
const judgementOf = ({ sensor, isStale, judgment }: Facts) =>
  isStale
    ? 'Old: no values arrive'
    : (describeOldCell(sensor.cellState) ?? judgment?.describe(sensor) ?? 'Current');

function writtenOf(sensor: FleetSensor, choices: UnitChoices): { number: string; unit: string } {
  const state = stateText(sensor, sensor.value);
  return state === null ? writeValue(sensor.value, sensor.unit, { choices }) : { number: state, unit: '' };
}

const ageOf = ({ at }: FleetSensor, now: number) => (at === 0 ? NOTHING : formatAge(now - at));
