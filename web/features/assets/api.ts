import { type Client, segment } from '../../api/client.ts';
import { BASE, nullIfMissing, type Query, toQuery } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type Asset = schemas.Asset;
export type AssetDetail = schemas.AssetDetail;
export type AssetMatches = schemas.AssetMatches;
export type AssetMember = schemas.AssetMember;
export type AssetPlaces = schemas.AssetPlaces;
export type AssetPlan = schemas.AssetPlan;
export type AssetSeries = schemas.AssetSeries;
export type TreeReport = schemas.TreeReport;
export type Level = Asset['level'];

/** The part of an alarm that counts for the state of an asset. Alarms belong to another feature, which may be absent. */
export interface OpenAlarm {
  device_id: string;
  sensor_id: string;
  severity: string;
  shelved_until: string | null;
}

const pathOf = (asset: string) => `/assets/${segment(asset)}`;

/** @param asset id or path @returns null: there is no such asset */
export const readAsset = (
  { requests }: Client,
  asset: string,
  signal?: AbortSignal,
): Promise<AssetDetail | null> => requests.get(pathOf(asset), {}, signal).catch(nullIfMissing);

/** @param asset null: the roots */
export const readChildren = (
  { requests }: Client,
  asset: string | null,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<Asset>> =>
  requests.get(asset === null ? '/assets' : `${pathOf(asset)}/children`, query, signal);

/** @param asset null: at all assets */
export const readMembers = (
  { requests }: Client,
  asset: string | null,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<AssetMember>> =>
  requests.get(asset === null ? '/asset-members' : `${pathOf(asset)}/members`, query, signal);

export const searchAssets = (
  { requests }: Client,
  text: string,
  signal?: AbortSignal,
): Promise<AssetMatches> => requests.get('/asset-search', { q: text }, signal);

export const readAssetSeries = (
  { requests }: Client,
  asset: string,
  query: Query,
  signal?: AbortSignal,
): Promise<AssetSeries> => requests.get(`${pathOf(asset)}/series`, query, signal);

export const readPlaces = (
  { requests }: Client,
  device: string,
  signal?: AbortSignal,
): Promise<AssetPlaces> => requests.get(`/devices/${segment(device)}/assets`, {}, signal);

export const readOpenAlarms = ({ requests }: Client, signal?: AbortSignal): Promise<Page<OpenAlarm>> =>
  requests.get('/alarms', { state: 'open', limit: 1000 }, signal);

export const createAsset = (
  { requests }: Client,
  asset: { name: string; level: Level; parent: string | null },
): Promise<AssetDetail> => requests.post('/assets', { body: asset });

export async function changeAsset(
  { requests }: Client,
  asset: string,
  change: { name?: string; level?: Level },
): Promise<AssetDetail> {
  return JSON.parse(await requests.read(pathOf(asset), undefined, { method: 'PATCH', body: change }));
}

/** A time in epoch ms; undefined: the default of the API. */
type Since = { since?: number | undefined };

export async function moveAsset(
  { requests }: Client,
  asset: string,
  move: { parent: string | null } & Since,
): Promise<AssetDetail> {
  return JSON.parse(await requests.read(`${pathOf(asset)}/parent`, undefined, { method: 'PUT', body: move }));
}

export async function retireAsset({ requests }: Client, asset: string) {
  await requests.requestOk(pathOf(asset), undefined, { method: 'DELETE' });
}

/** A device, or one sensor of it; names or ids. */
export interface Placed {
  device: string;
  sensor: string | null;
}

const placePath = ({ device, sensor }: Placed) => `/devices/${segment(device)}/assets${toQuery({ sensor })}`;

export async function placeMember(
  { requests }: Client,
  member: Placed,
  place: { asset: string } & Since,
): Promise<AssetPlaces> {
  return JSON.parse(await requests.read(placePath(member), undefined, { method: 'PUT', body: place }));
}

export async function removeMember({ requests }: Client, member: Placed) {
  await requests.requestOk(placePath(member), undefined, { method: 'DELETE' });
}

export const importTree = (
  { requests }: Client,
  content: Blob,
  { isDryRun }: { isDryRun: boolean },
): Promise<TreeReport> =>
  requests.post(`/asset-tree${toQuery({ dry_run: String(isDryRun) })}`, {
    file: { type: 'text/csv', content },
  });

const planPath = (asset: string) => `${pathOf(asset)}/plan`;

export const readPlan = ({ requests }: Client, asset: string, signal?: AbortSignal): Promise<AssetPlan> =>
  requests.get(planPath(asset), {}, signal);

/** @returns the address of the picture, which another picture does not have */
export const pictureHref = (asset: string, changedAt: string): string =>
  `${BASE}${planPath(asset)}/picture${toQuery({ changed_at: changedAt })}`;

export async function storePicture({ requests }: Client, asset: string, content: Blob) {
  const file = { type: content.type, content };
  await requests.requestOk(`${planPath(asset)}/picture`, undefined, { method: 'PUT', file });
}

export async function removePlan({ requests }: Client, asset: string) {
  await requests.requestOk(`${planPath(asset)}/picture`, undefined, { method: 'DELETE' });
}

export async function storePlanPlaces({ requests }: Client, asset: string, places: AssetPlan['places']) {
  const body = {
    places: places.map(({ device_id, sensor_id, x, y }) => ({ device: device_id, sensor: sensor_id, x, y })),
  };
  await requests.requestOk(`${planPath(asset)}/places`, undefined, { method: 'PUT', body });
}
