import { useEffect, useMemo } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { keyOf } from '../../api/stream/index.ts';
import type { Page } from '../../api/types.ts';
import { useFeatures } from '../../kit/slots.tsx';
import { MOST_SENSORS } from '../../state/fleet.ts';
import { useFleetInfo, useFleetState } from '../../state/fleet-state.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { fillPage } from '../../state/lists.ts';
import type { Asset, AssetMember, AssetPlan, OpenAlarm } from './api.ts';
import { readAsset, readChildren, readMembers, readOpenAlarms, readPlan } from './api.ts';
import { countAlarms, judge } from './condition.ts';

export const REFRESH = { refreshMs: 30_000 };
const ALARM_REFRESH = { refreshMs: 15_000 };
const PAGE = 1000;
/** Maximum number of devices and sensors below an asset that the dashboard reads. */
export const MOST_MEMBERS = 20_000;
const MOST_CHILDREN = 5000;
/** Maximum number of assets with the same parent that the page links. */
const MOST_SIBLINGS = 60;

const NO_MEMBERS: readonly AssetMember[] = [];
const NO_ALARMS: readonly OpenAlarm[] = [];

/** @param asset id; null: the members of all assets */
export const readFirstMembers = (
  client: Client,
  asset: string | null,
  signal: AbortSignal,
): Promise<Page<AssetMember>> =>
  fillPage<AssetMember>({
    cursor: null,
    limit: MOST_MEMBERS,
    ask: ({ cursor }) => readMembers(client, asset, { limit: PAGE, cursor }, signal),
  });

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
        readFirstMembers(client, id, signal),
      ]);
      return { path, isMissing: false as const, asset, siblings: siblings?.items ?? [], below, members };
    },
    REFRESH,
  );
  // After a change of the path, the last answer is of another asset.
  const data = answer.data?.path === path ? answer.data : null;
  return { ...answer, data };
}

/** Reads the plan of an asset. @param asset id; null: not known yet, or there is none */
export function usePlan(asset: string | null) {
  const { client } = useServices();
  const answer = useQuery(
    `plan of ${asset}`,
    async (signal) => (asset === null ? null : { asset, ...(await readPlan(client, asset, signal)) }),
    REFRESH,
  );
  return { ...answer, plan: answer.data?.asset === asset ? answer.data : null };
}

/**
 * Follows the live fleet, and judges the members of an asset by it.
 *
 * @param members null: not read yet
 * @param placed sensors on the plan, whose values the page follows also in a large fleet
 */
export function useConditions(
  path: string | null,
  members: Page<AssetMember> | null,
  placed: AssetPlan['places'],
) {
  const { client, live, clock } = useServices();
  const fleetState = useFleetState();
  const info = useFleetInfo(fleetState);
  const isLarge = info === null ? null : info.sensors > MOST_SENSORS;
  const keys = placed.map(keyOf).sort().join(' ');
  useEffect(() => {
    if (isLarge === null) return;
    if (live.fleet.isNarrow()) live.setFilter({});
    const sensors = keys.split(' ').map((key) => key.split('/') as [string, string]);
    if (!isLarge) live.follow({});
    else if (keys === '') live.followFigures();
    else live.follow({ sensors });
  }, [live, isLarge, isLarge && keys]);
  const hasAlarms = useFeatures().some(({ name }) => name === 'alarms');
  const { data } = useQuery(
    'alarms of assets',
    async (signal) => (hasAlarms ? readOpenAlarms(client, signal) : null),
    ALARM_REFRESH,
  );
  const { faults, now } = fleetState.value;
  const alarms = data?.items ?? NO_ALARMS;
  const items = members?.items ?? NO_MEMBERS;
  const isKnown = live.fleet.holdsAll();
  const judged = useMemo(() => {
    const isShelved = ({ shelved_until }: OpenAlarm) =>
      shelved_until !== null && Date.parse(shelved_until) > clock.now();
    const { devices, sensors } = live.fleet;
    const active = countAlarms(alarms.filter((alarm) => !isShelved(alarm)));
    return {
      alarms: active,
      ...judge(items, {
        path,
        fleet: {
          devices,
          sensors,
          offline: new Set(faults.offline.map(({ id }) => id)),
          isWhole: isKnown,
        },
        alarms: active,
      }),
    };
  }, [live, clock, path, items, alarms, faults, isKnown]);
  return {
    ...judged,
    info,
    now,
    /** whether the live state of all sensors is known */
    isKnown,
    isLarge: isLarge === true,
  };
}

export type Conditions = ReturnType<typeof useConditions>;
