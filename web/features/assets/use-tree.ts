import { useEffect, useMemo } from 'preact/hooks';
import type { Page } from '../../api/types.ts';
import { useFeatures } from '../../kit/slots.tsx';
import { MOST_SENSORS } from '../../state/fleet.ts';
import { useFleetInfo, useFleetState } from '../../state/fleet-state.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { fillPage } from '../../state/lists.ts';
import type { Asset, AssetMember, OpenAlarm } from './api.ts';
import { readAsset, readChildren, readMembers, readOpenAlarms } from './api.ts';
import { judge } from './condition.ts';

const REFRESH = { refreshMs: 30_000 };
const ALARM_REFRESH = { refreshMs: 15_000 };
const PAGE = 1000;
/** Maximum number of devices and sensors below an asset whose conditions the page follows. */
const MOST_MEMBERS = 20_000;
const MOST_CHILDREN = 5000;
/** Maximum number of assets with the same parent that the page links. */
const MOST_SIBLINGS = 60;

const NO_MEMBERS: readonly AssetMember[] = [];
const NO_ALARMS: readonly OpenAlarm[] = [];

/** Reads an asset with its children and members. @param path null: the roots */
export function useTree(path: string | null) {
  const { client } = useServices();
  const answer = useQuery(
    `asset ${path}`,
    async (signal) => {
      const asset = path === null ? null : await readAsset(client, path, signal);
      if (path !== null && asset === null) return { path, isMissing: true as const };
      const id = asset?.asset_id ?? null;
      const [siblings, below, members] = await Promise.all([
        asset && readChildren(client, asset.parent_id, { limit: MOST_SIBLINGS }, signal),
        fillPage<Asset>({
          cursor: null,
          limit: MOST_CHILDREN,
          ask: ({ cursor }) => readChildren(client, id, { limit: PAGE, cursor }, signal),
        }),
        fillPage<AssetMember>({
          cursor: null,
          limit: MOST_MEMBERS,
          ask: ({ cursor }) => readMembers(client, id, { limit: PAGE, cursor }, signal),
        }),
      ]);
      return { path, isMissing: false as const, asset, siblings: siblings?.items ?? [], below, members };
    },
    REFRESH,
  );
  // After a change of the path, the last answer is of another asset.
  const data = answer.data?.path === path ? answer.data : null;
  return { ...answer, data };
}

/** Follows the live fleet, and judges the members of an asset by it. @param members null: not read yet */
export function useConditions(path: string | null, members: Page<AssetMember> | null) {
  const { client, live, clock } = useServices();
  const fleetState = useFleetState();
  const info = useFleetInfo(fleetState);
  const isLarge = info === null ? null : info.sensors > MOST_SENSORS;
  useEffect(() => {
    if (isLarge === null) return;
    if (live.fleet.isNarrow()) live.setFilter({});
    if (isLarge) live.followFigures();
    else live.follow({});
  }, [live, isLarge]);
  const hasAlarms = useFeatures().some(({ name }) => name === 'alarms');
  const { data } = useQuery(
    'alarms of assets',
    async (signal) => (hasAlarms ? readOpenAlarms(client, signal) : null),
    ALARM_REFRESH,
  );
  const { faults, now } = fleetState.value;
  const alarms = data?.items ?? NO_ALARMS;
  const items = members?.items ?? NO_MEMBERS;
  const judged = useMemo(() => {
    const isShelved = ({ shelved_until }: OpenAlarm) =>
      shelved_until !== null && Date.parse(shelved_until) > clock.now();
    const { devices, sensors } = live.fleet;
    return judge(items, {
      path,
      fleet: { devices, sensors, offline: new Set(faults.offline.map(({ id }) => id)) },
      alarms: alarms.filter((alarm) => !isShelved(alarm)),
    });
  }, [live, clock, path, items, alarms, faults]);
  return {
    ...judged,
    info,
    now,
    /** whether the live state of all sensors is known */
    isKnown: live.fleet.holdsAll(),
    isLarge: isLarge === true,
  };
}

export type Conditions = ReturnType<typeof useConditions>;
