import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../../common/errors.ts';
import { formatTime } from '../../../../common/times.ts';
import type { Content, Operation } from '../../../http/contract/operation.ts';
import {
  audit,
  bodyOf,
  fields,
  Id,
  json,
  parseDevice,
  parseSensor,
  readQuery,
  requireReach,
  Time,
} from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { assetOf, assetTargets, type Deps, readWanted } from '../routes/index.ts';
import { assetInUse } from '../tree/index.ts';
import { checkPicture, MAX_PICTURE, PICTURE_HEADERS, PICTURE_TYPES } from './pictures.ts';
import type { PlanPlace, PlanStore } from './store.ts';

export type PlanDeps = Deps & { plans: PlanStore };

const MAX_PLACES = 1000;

/** In bytes. The longest names, all characters escaped, do not all fit, and ids do. */
const MAX_BYTES = 512 * 1024;

const fraction = z.number().min(0).max(1);

const reference = z.string().min(1);

const AssetPlan = z
  .strictObject({
    picture: z
      .strictObject({ type: z.enum(PICTURE_TYPES as [string]), changed_at: Time })
      .nullable()
      .meta({ description: 'Null: the asset has no plan.' }),
    places: z
      .array(z.strictObject({ device_id: Id, sensor_id: Id, x: fraction, y: fraction }))
      .max(MAX_PLACES)
      .meta({ description: '`x` and `y` are fractions of the width and the height, from the top left.' }),
  })
  .meta({
    examples: [
      {
        picture: { type: 'image/svg+xml', changed_at: '2026-11-24T06:00:00.000Z' },
        places: [
          {
            device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
            sensor_id: '5e8d2a4f-3c1b-5d6e-8f70-1a2b3c4d5e6f',
            x: 0.25,
            y: 0.5,
          },
        ],
      },
    ],
  });

const WantedPlanPlaces = z
  .strictObject({
    places: z
      .array(
        z.strictObject({
          device: reference.meta({ description: 'A device, by its id or its name.' }),
          sensor: reference.meta({ description: 'A sensor of the device, by its id or its name.' }),
          x: fraction,
          y: fraction,
        }),
      )
      .max(MAX_PLACES)
      .meta({ description: 'All places of the plan. A sensor has one.' }),
  })
  .meta({ examples: [{ places: [{ device: 'press-7', sensor: 'temperature', x: 0.25, y: 0.5 }] }] });

export const PLAN_SCHEMAS = { AssetPlan, WantedPlanPlaces };

const PICTURE_QUERY = {
  changed_at: fields.text.optional().meta({
    description: 'Without effect. Another value makes a browser read the picture again.',
    example: '2026-11-24T06:00:00.000Z',
  }),
};

async function planItem(plans: PlanStore, asset: string) {
  const { picture, places } = await plans.plan(asset);
  return {
    picture: picture && { type: picture.type, changed_at: formatTime(picture.changedAt) },
    places: places.map(({ device, sensor, x, y }) => ({ device_id: device, sensor_id: sensor, x, y })),
  };
}

const getPlan =
  ({ tree, plans }: PlanDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    res.json(await planItem(plans, assetOf(req, tree).id));
  };

const getPicture =
  ({ tree, plans }: PlanDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, PICTURE_QUERY);
    const picture = await plans.picture(assetOf(req, tree).id);
    if (!picture) throw noPicture();
    // A browser may keep it, and asks each time whether its copy is current.
    res.set({ ...PICTURE_HEADERS, 'Cache-Control': 'private, no-cache', ETag: `"${picture.changedAt}"` });
    if (req.fresh) res.status(304).end();
    else res.type(picture.type).send(picture.content);
  };

/** @returns id of the asset in use that the address names @throws `not_found` */
async function wantedAsset({ tree, log }: PlanDeps, req: Request): Promise<string> {
  readQuery(req, {});
  await log.refresh();
  return assetInUse(tree, assetOf(req, tree).id).id;
}

const putPicture =
  (deps: PlanDeps): RequestHandler =>
  async (req, res) => {
    const { plans, tree, context } = deps;
    const type = req.is([...PICTURE_TYPES]);
    const body = bodyOf(req, res, MAX_PICTURE);
    if (!type) throw new MillraceError('unknown_format', `Send one of ${PICTURE_TYPES.join(', ')}.`);
    const content = await body.read();
    checkPicture(type, content);
    const asset = await wantedAsset(deps, req);
    await plans.storePicture(asset, { type, content, changedAt: context.clock() });
    audit(context.logger, res, 'the plan of an asset was stored', tree.path(asset));
    res.json(await planItem(plans, asset));
  };

const deletePicture =
  (deps: PlanDeps): RequestHandler =>
  async (req, res) => {
    const { plans, tree, context } = deps;
    const asset = await wantedAsset(deps, req);
    if (!(await plans.plan(asset)).picture) throw noPicture();
    await plans.remove(asset);
    audit(context.logger, res, 'the plan of an asset was removed', tree.path(asset));
    res.status(204).end();
  };

const putPlaces =
  (deps: PlanDeps): RequestHandler =>
  async (req, res) => {
    const { plans, tree, context } = deps;
    const advice = 'Send {"places": [{"device": "…", "sensor": "…", "x": 0.5, "y": 0.5}]}.';
    const wanted = await readWanted(req, res, WantedPlanPlaces, advice, MAX_BYTES);
    const places = wanted.places.map(toPlace);
    if (new Set(places.map(({ device, sensor }) => `${device}/${sensor}`)).size < places.length)
      throw new MillraceError('malformed', 'A sensor has one place on a plan.');
    const asset = await wantedAsset(deps, req);
    if (places.length > 0) await requireReach(res, places);
    if (!(await plans.plan(asset)).picture) throw noPicture();
    await plans.storePlaces(asset, places);
    audit(context.logger, res, 'sensors were placed on a plan', tree.path(asset));
    res.json(await planItem(plans, asset));
  };

/** @throws `bad_id` */
function toPlace({
  device: text,
  sensor,
  x,
  y,
}: z.infer<typeof WantedPlanPlaces>['places'][number]): PlanPlace {
  const device = parseDevice(text).id;
  return { device, sensor: parseSensor(device, sensor).id, x, y };
}

const noPicture = () => new MillraceError('not_found', 'The asset has no picture.');

const PICTURES: Content = Object.fromEntries(
  PICTURE_TYPES.map((type) => [type, { text: `A picture of up to ${MAX_PICTURE} bytes.` }]),
);

const readPlan: Operation = {
  id: 'getAssetPlan',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'The plan of an asset: its picture, and the places of sensors on it',
  answers: { 200: json(AssetPlan) },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

const readPicture: Operation = {
  id: 'getAssetPicture',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'The picture of a plan',
  description: 'Scripts in an SVG never run: the answer has a Content-Security-Policy, and `nosniff`.',
  query: PICTURE_QUERY,
  answers: { 200: PICTURES, 304: {} },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

const storePicture: Operation = {
  id: 'putAssetPicture',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Stores the picture of a plan',
  description: 'It replaces an earlier picture. The places stay.',
  body: PICTURES,
  answers: { 200: json(AssetPlan) },
  problems: ['bad_parameter', 'malformed', 'not_found', 'too_large', 'unknown_format', 'unavailable'],
};

const removePlan: Operation = {
  id: 'deleteAssetPicture',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Removes a plan: its picture and the places on it',
  answers: { 204: {} },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

const storePlaces: Operation = {
  id: 'putAssetPlanPlaces',
  tag: 'assets',
  scope: 'admin',
  targets: assetTargets,
  summary: 'Stores the places of sensors on a plan',
  description: 'They replace all earlier ones. The sensors need not be registered, nor be at the asset.',
  body: json(WantedPlanPlaces),
  answers: { 200: json(AssetPlan) },
  problems: [
    'bad_parameter',
    'bad_id',
    'malformed',
    'not_found',
    'too_large',
    'unknown_format',
    'unavailable',
  ],
};

const PLAN = '/api/v1/assets/{asset}/plan';

export const planRoutes: Array<Route<PlanDeps>> = [
  { method: 'get', path: PLAN, operation: readPlan, handler: getPlan },
  { method: 'get', path: `${PLAN}/picture`, operation: readPicture, handler: getPicture },
  { method: 'put', path: `${PLAN}/picture`, operation: storePicture, handler: putPicture },
  { method: 'delete', path: `${PLAN}/picture`, operation: removePlan, handler: deletePicture },
  { method: 'put', path: `${PLAN}/places`, operation: storePlaces, handler: putPlaces },
];
