import type { Request, RequestHandler, Response } from 'express';
import { formatTime } from '../../../../common/times.ts';
import type { Caller } from '../../../access/http/index.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import { fields, json, PAGED, parseDevice, pathTargets, readQuery } from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { type AssetTree, NOW, noSuchAsset, type PlacedMember } from '../tree/index.ts';
import { keyOfMember, MemberOrder } from './member-order.ts';
import { SCHEMAS } from './schemas.ts';
import {
  assetDetail,
  assetItem,
  assetOf,
  assetTargets,
  at,
  type Deps,
  selectPage,
  timeAt,
} from './shared.ts';

const AT = { at };

const LIST = { limit: fields.limit, cursor: fields.cursor, at };

/** Reads one page of a list. `list`: what the cursor is bound to. */
async function readPage<T>(
  deps: Deps,
  req: Request,
  list: string[],
  read: (place: { time: number; after: string | null; limit: number }) => Iterable<T> | Promise<Iterable<T>>,
  keyOf: (item: T) => string,
): Promise<{ items: T[]; next: string | null; time: number }> {
  const { limit, cursor, at: given } = readQuery(req, LIST);
  const { cursors } = deps.http;
  const scope = JSON.stringify([...list, given]);
  const after = cursor === undefined ? null : cursors.open<string>(scope, cursor);
  const time = timeAt(given, deps);
  const page = await selectPage(await read({ time, after, limit }), { keyOf, after, limit });
  return { items: page.items, next: page.next && cursors.seal(scope, page.next), time };
}

/** Assets of the same name may follow each other in time. */
const keyOfAsset = ({ name, id }: { name: string; id: string }) => `${name}\0${id}`;

const assetPage = async (deps: Deps, req: Request, parent: string | null) => {
  const { tree } = deps;
  const page = await readPage(
    deps,
    req,
    ['assets', parent ?? ''],
    ({ time }) => tree.childNames(parent, time),
    keyOfAsset,
  );
  const above = parent === null ? '' : `${tree.path(parent, page.time)}/`;
  const items = page.items.flatMap(({ id, name }) => {
    const asset = tree.asset(id, page.time);
    return asset ? assetItem(tree, asset, above + name) : [];
  });
  return { items, next: page.next };
};

const getRoots =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    res.json(await assetPage(deps, req, null));
  };

const getChildren =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    res.json(await assetPage(deps, req, assetOf(req, deps.tree).id));
  };

const getAsset =
  (deps: Deps): RequestHandler =>
  (req, res) => {
    const time = timeAt(readQuery(req, AT).at, deps);
    const asset = deps.tree.asset(assetOf(req, deps.tree).id, time);
    if (!asset) throw noSuchAsset();
    res.json(assetDetail(deps.tree, asset, time));
  };

const sendMembers =
  (ofAsset: (req: Request, tree: AssetTree) => string | null) =>
  (deps: Deps): RequestHandler => {
    const { tree } = deps;
    const order = new MemberOrder(tree);
    return async (req, res) => {
      const id = ofAsset(req, tree);
      const { items, next, time } = await readPage<PlacedMember>(
        deps,
        req,
        ['asset members', id ?? ''],
        ({ time: instant, after, limit }) => order.page(id, instant, after, limit),
        keyOfMember,
      );
      const paths: Map<string, ReturnType<typeof pathAndLevels>> = new Map();
      for (const { asset } of items)
        if (!paths.has(asset)) paths.set(asset, pathAndLevels(tree, asset, time));
      res.json({
        items: items.map(({ member, member: { device, sensor, name }, asset }) => ({
          device_id: device,
          device: tree.device(device)?.name ?? null,
          sensor_id: sensor,
          sensor: sensor === null ? null : name,
          own_sensors: sensor === null ? ownSensors(member, time) : [],
          asset_id: asset,
          ...paths.get(asset),
        })),
        next,
      });
    };
  };

const pathAndLevels = (tree: AssetTree, asset: string, time: number) => ({
  path: tree.path(asset, time),
  levels: tree
    .lineage(asset, time)
    .map(({ level }) => level)
    .reverse(),
});

const ownSensors = ({ sensors }: PlacedMember['member'], time: number): string[] =>
  [...(sensors?.values() ?? [])].flatMap(({ sensor, places }) =>
    sensor !== null && places.at(time) !== null ? sensor : [],
  );

const getMembers = sendMembers((req, tree) => assetOf(req, tree).id);

const getAllMembers = sendMembers(() => null);

const getPlaces =
  ({ tree }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { id } = parseDevice(String(req.params['device']));
    res.json(await placesItem(tree, id, res));
  };

/** The places of a device and its sensors over time, as far as the caller reaches their assets. */
export async function placesItem(tree: AssetTree, id: string, res: Response) {
  const { reaches }: Caller = res.locals['caller'];
  const device = tree.device(id);
  const members = device ? [device, ...(device.sensors?.values() ?? [])] : [];
  const places = members.flatMap(({ sensor, name, places: ofMember }) =>
    [...ofMember.between(0, NOW)].flatMap(({ value, from, to }) =>
      value === null
        ? []
        : {
            sensor_id: sensor,
            sensor: sensor === null ? null : name,
            asset_id: value,
            path: tree.path(value),
            from: from === 0 ? null : formatTime(from),
            to: to === NOW ? null : formatTime(to),
          },
    ),
  );
  if (!reaches) return { device_id: id, places };
  const reached: Set<string> = new Set();
  for (const asset of new Set(places.map(({ asset_id }) => asset_id)))
    if (await reaches([{ place: asset }])) reached.add(asset);
  return { device_id: id, places: places.filter(({ asset_id }) => reached.has(asset_id)) };
}

const ONE: Operation['problems'] = ['bad_parameter', 'bad_range', 'not_found'];

const PAGE: Operation['problems'] = [...PAGED, 'bad_range'];

const listAssets: Operation = {
  id: 'listAssets',
  tag: 'assets',
  scope: 'read',
  summary: 'The roots of the tree of assets, by name, page by page',
  description: `Each process reads edits of other processes every two seconds. \`children\` and \`members\` count what is there now, also with \`at\`.`,
  query: LIST,
  answers: { 200: json(SCHEMAS.AssetPage) },
  problems: PAGE,
};

const listChildren: Operation = {
  id: 'listAssetChildren',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'The children of an asset, by name, page by page',
  query: LIST,
  answers: { 200: json(SCHEMAS.AssetPage) },
  problems: [...PAGE, 'not_found'],
};

const readAsset: Operation = {
  id: 'getAsset',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'An asset with its ancestors',
  query: AT,
  answers: { 200: json(SCHEMAS.AssetDetail) },
  problems: ONE,
};

const listMembers: Operation = {
  id: 'listAssetMembers',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'The devices and sensors at an asset and below it, by id, page by page',
  query: LIST,
  answers: { 200: json(SCHEMAS.AssetMemberPage) },
  problems: [...PAGE, 'not_found'],
};

const listAllMembers: Operation = {
  id: 'listAssetMembersOfTree',
  tag: 'assets',
  scope: 'read',
  summary: 'The devices and sensors at all assets, by id, page by page',
  query: LIST,
  answers: { 200: json(SCHEMAS.AssetMemberPage) },
  problems: PAGE,
};

const readPlaces: Operation = {
  id: 'getDeviceAssets',
  tag: 'assets',
  scope: 'read',
  targets: pathTargets,
  summary: 'The assets of a device and of its sensors over time',
  description:
    'A sensor without a place of its own is where its device is. A token for a part of the tree sees only the places in it.',
  answers: { 200: json(SCHEMAS.AssetPlaces) },
  problems: ['bad_parameter', 'bad_id'],
};

export const readingRoutes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/assets', operation: listAssets, handler: getRoots },
  { method: 'get', path: '/api/v1/assets/{asset}', operation: readAsset, handler: getAsset },
  { method: 'get', path: '/api/v1/assets/{asset}/children', operation: listChildren, handler: getChildren },
  { method: 'get', path: '/api/v1/assets/{asset}/members', operation: listMembers, handler: getMembers },
  { method: 'get', path: '/api/v1/asset-members', operation: listAllMembers, handler: getAllMembers },
  { method: 'get', path: '/api/v1/devices/{device}/assets', operation: readPlaces, handler: getPlaces },
];
