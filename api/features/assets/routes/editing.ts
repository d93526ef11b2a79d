import type { Request, RequestHandler } from 'express';
import type { Caller, Target, TargetsOf } from '../../../access/http/index.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import {
  audit,
  fields,
  json,
  parseDevice,
  parseSensor,
  pathTargets,
  readQuery,
  requireReach,
} from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { type AssetTree, assetInUse, levelUnder } from '../tree/index.ts';
import { placesItem } from './reading.ts';
import { SCHEMAS } from './schemas.ts';
import {
  assetDetail,
  assetOf,
  assetTargets,
  type Deps,
  editorOf,
  findAsset,
  readWanted,
  sinceOf,
} from './shared.ts';

const SENSOR = {
  sensor: fields.id.meta({
    description:
      'Only this sensor of the device: a UUID in lower case, or a name. Its place comes before that of the device.',
    example: 'temperature',
  }),
};

const parentId = (tree: AssetTree, text: string | null): string | null =>
  text === null ? null : findAsset(tree, text).id;

/** Null: a root. A past place may be beyond the reach of a token, so with `since` the edit touches the whole installation. */
const placeTargets = (place: string | null, since?: string | number): Target[] =>
  place === null || since !== undefined ? [] : [{ place }];

const postAsset =
  ({ tree, log, edits, context: { logger } }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const advice = 'Send {"name": "…", "level": "…", "parent": "…"}. A name has no slash.';
    const { name, level, parent: text } = await readWanted(req, res, SCHEMAS.WantedAsset, advice);
    await log.refresh();
    await requireReach(res, placeTargets(text ?? null));
    const parent = parentId(tree, text ?? null);
    const own = level ?? levelUnder(parent === null ? null : assetInUse(tree, parent));
    const id = await edits.create(editorOf(res), { name, level: own, parent });
    audit(logger, res, 'an asset was created', tree.path(id));
    res.status(201).json(assetDetail(tree, assetInUse(tree, id)));
  };

/** Applies an edit of one asset, and answers with the asset. */
const editOne =
  (
    act: string,
    edit: (deps: Deps, req: Request, res: Parameters<RequestHandler>[1], id: string) => Promise<void>,
  ) =>
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    await deps.log.refresh();
    const { id } = assetOf(req, deps.tree);
    await edit(deps, req, res, id);
    audit(deps.context.logger, res, act, deps.tree.path(id));
    res.json(assetDetail(deps.tree, findAsset(deps.tree, id)));
  };

const patchAsset = editOne('an asset was changed', async ({ edits }, req, res, id) => {
  const advice = 'Send {"name": "…"}, {"level": "…"} or both. A name has no slash.';
  const { since, ...change } = await readWanted(req, res, SCHEMAS.AssetChange, advice);
  await edits.change(editorOf(res), id, { ...change, since: sinceOf(since) });
});

const putParent = editOne('an asset was moved', async ({ edits, tree }, req, res, id) => {
  const advice = 'Send {"parent": "…"}, with "since" if needed. The parent null makes the asset a root.';
  const { parent, since } = await readWanted(req, res, SCHEMAS.AssetParent, advice);
  await requireReach(res, placeTargets(parent, since));
  await edits.move(editorOf(res), id, { parent: parentId(tree, parent), since: sinceOf(since) });
});

const deleteAsset =
  ({ tree, log, edits, context: { logger } }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    await log.refresh();
    const { id } = assetOf(req, tree);
    const path = tree.path(id);
    await edits.retire(editorOf(res), id);
    audit(logger, res, 'an asset was retired', path);
    res.status(204).end();
  };

function readMember(req: Request) {
  const { sensor } = readQuery(req, SENSOR);
  const text = String(req.params['device']);
  const device = parseDevice(text);
  return {
    member: { device, sensor: sensor === undefined ? null : parseSensor(device.id, sensor) },
    target: sensor === undefined ? text : `${text}/${sensor}`,
  };
}

/** The device, or the sensor of the query. */
const memberTargets: TargetsOf = ({ params, query: { sensor } }) => {
  const { id: device } = parseDevice(String(params['device']));
  return [sensor === undefined ? { device } : { device, sensor: parseSensor(device, String(sensor)).id }];
};

const putPlace =
  ({ tree, log, edits, context: { clock, logger } }: Deps): RequestHandler =>
  async (req, res) => {
    const { member, target } = readMember(req);
    const advice = 'Send {"asset": "…"}, with "since" if needed.';
    const { asset, since } = await readWanted(req, res, SCHEMAS.WantedPlace, advice);
    await log.refresh();
    await requireReach(res, placeTargets(asset, since));
    const { reaches }: Caller = res.locals['caller'];
    // The default of a first place is always, and the past may be beyond the reach of a token.
    const place = { asset: findAsset(tree, asset).id, since: reaches ? clock() : sinceOf(since) };
    await edits.place(editorOf(res), member, place);
    audit(logger, res, 'a device was placed at an asset', target);
    res.json(await placesItem(tree, member.device.id, res));
  };

const deletePlace =
  ({ edits, context: { logger } }: Deps): RequestHandler =>
  async (req, res) => {
    const { member, target } = readMember(req);
    await edits.place(editorOf(res), member, { asset: null });
    audit(logger, res, 'a device was taken from its asset', target);
    res.status(204).end();
  };

const BODY: Operation['problems'] = [
  'bad_parameter',
  'malformed',
  'not_found',
  'too_large',
  'unknown_format',
  'unavailable',
];

const EDIT: Operation['problems'] = [...BODY, 'bad_timestamp', 'in_future', 'asset_exists', 'asset_level'];

const createAsset: Operation = {
  id: 'createAsset',
  tag: 'assets',
  scope: 'admin',
  targets: 'body',
  summary: 'Creates an asset',
  description: 'Siblings have different names.',
  body: json(SCHEMAS.WantedAsset),
  answers: { 201: json(SCHEMAS.AssetDetail) },
  problems: [...BODY, 'asset_exists', 'asset_level'],
};

const changeAsset: Operation = {
  id: 'changeAsset',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Changes the name or the level of an asset',
  description: 'An answer with `at` before `since` has the old name. A level has no past.',
  body: json(SCHEMAS.AssetChange),
  answers: { 200: json(SCHEMAS.AssetDetail) },
  problems: EDIT,
};

const moveAsset: Operation = {
  id: 'moveAsset',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Moves an asset with everything below it',
  description: 'The time before `since` stays with the old parent. The move is stored whole or not at all.',
  body: json(SCHEMAS.AssetParent),
  answers: { 200: json(SCHEMAS.AssetDetail) },
  problems: [...EDIT, 'asset_circle'],
};

const retireAsset: Operation = {
  id: 'retireAsset',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Retires an asset without children, devices and sensors',
  description: 'Its past stays, and another asset may get its name.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'not_found', 'asset_in_use', 'unavailable'],
};

const placeDevice: Operation = {
  id: 'placeDevice',
  tag: 'assets',
  scope: 'admin',
  targets: memberTargets,
  summary: 'Places a device, or one sensor of it, at an asset',
  description:
    'The time before `since` stays with the old asset. The device need not be registered. Its `site` no longer moves it.',
  query: SENSOR,
  body: json(SCHEMAS.WantedPlace),
  answers: { 200: json(SCHEMAS.AssetPlaces) },
  problems: [...BODY, 'bad_id', 'bad_timestamp', 'in_future'],
};

const removeDevice: Operation = {
  id: 'removeDeviceAsset',
  tag: 'assets',
  scope: 'admin',
  targets: pathTargets,
  summary: 'Removes a device from its asset, or one sensor from its own asset',
  description: 'It applies from the present hour on. The sensor is then where its device is.',
  query: SENSOR,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

const PLACE = '/api/v1/devices/{device}/assets';

export const editingRoutes: Array<Route<Deps>> = [
  { method: 'post', path: '/api/v1/assets', operation: createAsset, handler: postAsset },
  { method: 'patch', path: '/api/v1/assets/{asset}', operation: changeAsset, handler: patchAsset },
  { method: 'delete', path: '/api/v1/assets/{asset}', operation: retireAsset, handler: deleteAsset },
  { method: 'put', path: '/api/v1/assets/{asset}/parent', operation: moveAsset, handler: putParent },
  { method: 'put', path: PLACE, operation: placeDevice, handler: putPlace },
  { method: 'delete', path: PLACE, operation: removeDevice, handler: deletePlace },
];
