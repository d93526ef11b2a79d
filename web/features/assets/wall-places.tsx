import { useEffect, useMemo, useState } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type { Slots } from '../../feature.ts';
import { formatCount } from '../../format.ts';
import { FilterField, useFilter } from '../../kit/list-controls.tsx';
import { withQuery } from '../../routes.ts';
import { MOST_SENSORS } from '../../state/fleet.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { Place, PlaceOf } from '../../state/places.ts';
import { Field } from '../shared/form.tsx';
import { assetHref, stepsOf } from './address.ts';
import type { AssetMember } from './api.ts';
import { readChildren } from './api.ts';
import { LEVELS } from './levels.ts';
import { MOST_MEMBERS, REFRESH, readFirstMembers } from './use-tree.ts';
import './wall-places.css';

/** Renders the fields that group the wall by a level, or limit it to an asset and below, and the path of that asset. */
export function WallPlaces({ isLarge, isFull }: Slots['wallPlaces']) {
  const { client, router } = useServices();
  const { query } = router.place.value;
  const [level, path] = [query.get('level'), query.get('place')];
  const [isTouched, setTouched] = useState(false);
  const roots = useQuery('roots', (signal) => readChildren(client, null, { limit: 1 }, signal), REFRESH);
  const isWanted = !isLarge && (isTouched || level !== null || path !== null);
  const { paths, levels, isCut, problem } = usePlaces(isWanted);
  const setPath = useFilter('place');
  const setLevel = useFilter('level');
  if (!roots.data?.items.length) return null;
  if (isLarge)
    return isFull ? null : (
      <p class="wall-places-note small">
        More than {formatCount(MOST_SENSORS)} sensors cannot be grouped by assets here. Choose a type or a
        site with fewer, or open <a href={assetHref(path)}>{path === null ? 'the assets' : path}</a>.
      </p>
    );
  const offered = LEVELS.filter((each) => levels === null || levels.has(each) || each === level);
  return (
    <>
      {!isFull && (
        <div class="filters wall-places" onFocusCapture={() => setTouched(true)}>
          <Field
            class="field"
            label="Group by"
            value={level ?? ''}
            options={[['', 'announced site'], ...offered.map((each) => [each, each] as const)]}
            onValue={setLevel}
          />
          <FilterField
            label="Place"
            placeholder="any"
            value={path ?? ''}
            options={paths}
            onChange={setPath}
          />
        </div>
      )}
      {path !== null && <Path path={path} />}
      {problem && isWanted && (
        <p class="wall-places-note small" role="alert">
          {problemWords(problem).title}. The wall shows all sensors by site.
        </p>
      )}
      {isCut && (
        <p class="wall-places-note small">
          Only the first {formatCount(MOST_MEMBERS)} devices and sensors of the assets were read. The others
          appear without a place.
        </p>
      )}
    </>
  );
}

/** The path of the chosen asset. Each step chooses an asset above. */
function Path({ path }: { path: string }) {
  const { router } = useServices();
  const hrefOf = (place: string | null) => withQuery(router.place.value, { place, cursor: null, page: null });
  const steps = stepsOf(path);
  return (
    <nav class="wall-path" aria-label="Place on the wall">
      <ol>
        <li>
          <a href={hrefOf(null)}>All</a>
        </li>
        {steps.map((step, index) => (
          <li key={step.path} aria-current={index === steps.length - 1 ? 'true' : undefined}>
            {index === steps.length - 1 ? <b>{step.name}</b> : <a href={hrefOf(step.path)}>{step.name}</a>}
          </li>
        ))}
      </ol>
      <a class="link" href={assetHref(path)}>
        Open the asset
      </a>
    </nav>
  );
}

/** Reads the places of all devices and sensors, and gives them to the live fleet. */
function usePlaces(isWanted: boolean) {
  const { client, live } = useServices();
  const { data, problem } = useQuery(
    isWanted ? 'places' : 'no places',
    async (signal) => (isWanted ? await readFirstMembers(client, null, signal) : null),
    REFRESH,
  );
  useEffect(() => {
    if (!data) return;
    live.fleet.setPlaces(placesOf(data));
    live.notifyWatchers();
  }, [live, data]);
  const choices = useMemo(() => (data ? choicesOf(data.items) : { paths: [], levels: null }), [data]);
  return { ...choices, problem: data ? null : problem, isCut: typeof data?.next === 'string' };
}

/** A sensor without a place of its own is where its device is. */
export function placesOf({ items }: Pick<Page<AssetMember>, 'items'>): PlaceOf {
  const known: Map<string, Place> = new Map();
  const devices: Map<string, Place> = new Map();
  const sensors: Map<string, Place> = new Map();
  for (const { device_id, sensor_id, path, levels } of items) {
    const place = known.get(path) ?? { path, levels };
    known.set(path, place);
    if (sensor_id === null) devices.set(device_id, place);
    else sensors.set(`${device_id}/${sensor_id}`, place);
  }
  return (device, sensor) => sensors.get(`${device}/${sensor}`) ?? devices.get(device) ?? null;
}

/** @returns paths and levels of assets that have devices or sensors, or are above such assets */
function choicesOf(members: readonly AssetMember[]) {
  const levels = new Set(members.flatMap((member) => member.levels));
  const paths = new Set<string>();
  for (const own of new Set(members.map(({ path }) => path)))
    for (const { path } of stepsOf(own)) paths.add(path);
  return { levels, paths: [...paths].sort() };
}
