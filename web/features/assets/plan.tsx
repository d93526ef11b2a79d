import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, toProblem } from '../../api/request.ts';
import { keyOf } from '../../api/stream/index.ts';
import { ProblemLine } from '../../kit/notice.tsx';
import { useServices } from '../../state/hooks.ts';
import { itemOf } from '../../state/lists.ts';
import { useMay } from '../../state/session.ts';
import type { AssetDetail, AssetMember } from './api.ts';
import { pictureHref, storePlanPlaces } from './api.ts';
import type { Action } from './dialogs.tsx';
import { EditedMark, type Mark, PlacedSensor } from './plan-marks.tsx';
import { SensorChoice } from './plan-sensors.tsx';
import { freeSpot } from './plan-spot.ts';
import type { Conditions, usePlan } from './use-tree.ts';
import './plan.css';

/** Renders the plan of an asset: its picture, with the newest values of sensors where they stand. */
export function Plan({
  asset,
  answer: { plan, problem, reload },
  members,
  conditions,
  setAction,
}: {
  asset: AssetDetail;
  answer: ReturnType<typeof usePlan>;
  members: AssetMember[];
  conditions: Conditions;
  setAction: (action: Action) => void;
}) {
  const may = useMay('admin');
  const editing = useEditing(asset.asset_id, reload);
  const marks = editing.marks ?? plan?.places ?? [];
  useSeeds(marks);
  const opener = useRef<HTMLButtonElement | null>(null);
  const isEditing = editing.marks !== null;
  // The editor that had the focus is gone.
  useEffect(() => (isEditing ? () => opener.current?.focus() : undefined), [isEditing]);
  if (!plan) return problem && <ProblemLine problem={problem} onRetry={reload} />;
  const { picture } = plan;
  if (!picture && !may) return null;
  return (
    <section class="panel asset-plan" aria-labelledby="plan-title">
      <div class="asset-head">
        <h2 id="plan-title">Plan</h2>
        {may && !editing.marks && (
          <div class="asset-actions">
            <button type="button" class="button" onClick={() => setAction({ kind: 'picture', asset })}>
              {picture ? 'Replace the picture…' : 'Add a picture…'}
            </button>
            {picture && (
              <>
                <button
                  type="button"
                  class="button"
                  onClick={() => setAction({ kind: 'remove-plan', asset })}
                >
                  Remove…
                </button>
                <button ref={opener} type="button" class="button" onClick={() => editing.begin(plan.places)}>
                  Place sensors
                </button>
              </>
            )}
          </div>
        )}
      </div>
      {editing.marks && (
        <Editor {...editing} marks={editing.marks} members={members} isLarge={conditions.isLarge} />
      )}
      {picture && (
        <Picture key={picture.changed_at} src={pictureHref(asset.asset_id, picture.changed_at)}>
          {marks.map((mark) => (
            <li key={keyOf(mark)} style={styleOf(mark)}>
              {editing.marks ? (
                <EditedMark mark={mark} {...editing} />
              ) : (
                <PlacedSensor mark={mark} conditions={conditions} />
              )}
            </li>
          ))}
        </Picture>
      )}
    </section>
  );
}

/** A mark at the right edge stands left of its point, so that no mark is cut off. */
const styleOf = ({ x, y }: Mark) => ({
  left: `${x * 100}%`,
  top: `${y * 100}%`,
  transform: `translate(${-x * 100}%, ${-y * 100}%)`,
});

/** Ratio of width to height while the picture is not loaded, or if it has no size of its own. */
const RATIO = 4 / 3;

function Picture({ src, children }: { src: string; children: ComponentChildren }) {
  const [ratio, setRatio] = useState(RATIO);
  const [isBroken, setBroken] = useState(false);
  return (
    <>
      <div
        class="plan-picture"
        style={{ aspectRatio: String(ratio), width: `min(100%, ${Math.round(80 * ratio)}vh)` }}
      >
        <img
          src={src}
          alt=""
          draggable={false}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setRatio(naturalWidth / naturalHeight || RATIO)
          }
          onError={() => setBroken(true)}
        />
        <ul aria-label="Sensors on the plan">{children}</ul>
      </div>
      {isBroken && (
        <p class="asset-note" role="alert">
          The picture cannot be shown.
        </p>
      )}
    </>
  );
}

/** While the page follows the whole fleet, it keeps newest values only of sensors that it seeds. */
function useSeeds(marks: readonly Mark[]) {
  const { live } = useServices();
  const structure = live.fleet.structure();
  const items = useMemo(
    () =>
      marks.flatMap((mark) => {
        const sensor = live.fleet.sensors.get(keyOf(mark));
        return sensor ? [itemOf(sensor)] : [];
      }),
    [live, marks, structure],
  );
  useEffect(() => live.seed(items), [live, items]);
}

/** The places that are being changed, and are not stored yet. */
function useEditing(asset: string, reload: () => void) {
  const { client } = useServices();
  const [marks, setMarks] = useState<Mark[] | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const begin = (places: Mark[] | null) => {
    setMarks(places);
    setProblem(null);
  };
  const replace = (mark: Mark, next: Mark[]) =>
    setMarks((all) => all?.flatMap((each) => (keyOf(each) === keyOf(mark) ? next : [each])) ?? null);
  return {
    marks,
    busy,
    problem,
    begin,
    add: (mark: Mark) => setMarks((all) => [...(all ?? []), mark]),
    move: (mark: Mark, { x, y }: { x: number; y: number }) =>
      replace(mark, [{ ...mark, x: fraction(x), y: fraction(y) }]),
    remove: (mark: Mark) => replace(mark, []),
    async store() {
      setBusy(true);
      try {
        await storePlanPlaces(client, asset, marks ?? []);
        begin(null);
        reload();
      } catch (error) {
        setProblem(toProblem(error));
      }
      setBusy(false);
    },
  };
}

export type Editing = ReturnType<typeof useEditing>;

/** Finer than a pixel of any screen. */
const STEPS = 10_000;

const fraction = (value: number) => Math.round(Math.min(Math.max(value, 0), 1) * STEPS) / STEPS;

function Editor({
  marks,
  members,
  isLarge,
  busy,
  problem,
  add,
  store,
  begin,
}: Editing & { marks: Mark[]; members: AssetMember[]; isLarge: boolean }) {
  const bar = useRef<HTMLDivElement | null>(null);
  useEffect(() => bar.current?.querySelector('input')?.focus(), []);
  return (
    <div class="plan-editor" ref={bar}>
      <SensorChoice
        {...{ marks, members, isLarge }}
        onChoice={(ids) => add({ ...ids, ...freeSpot(marks) })}
      />
      <div class="asset-actions">
        <button type="button" class="button" disabled={busy} onClick={() => begin(null)}>
          Cancel
        </button>
        <button type="button" class="button main-button" disabled={busy} onClick={store}>
          {busy ? 'Storing…' : 'Store'}
        </button>
      </div>
      <p class="small">Drag a sensor, or move it with the arrow keys. The key Delete takes it away.</p>
      {problem && <ProblemLine problem={problem} onRetry={store} />}
    </div>
  );
}
