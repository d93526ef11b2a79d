import { z } from 'zod';
import type { Caller, TargetsOf } from '../../access/http/index.ts';
import type { Formats } from '../../feature.ts';
import { badParameter, filterByPlaces, queryTargets, readParameters } from '../../http/index.ts';
import type { PlaceFilter } from '../../http/places.ts';
import { placementsBelow } from './roll-ups/index.ts';
import { type Deps, findAsset } from './routes/index.ts';
import { ASSET_LEVELS, type AssetTree, type Level, NOW } from './tree/index.ts';

/** With more devices below the asset, the whole fleet is read, page by page. */
const MAX_DEVICES = 1000;

const QUERY = {
  asset: z.string().min(1).optional().meta({
    description:
      'Sensors at this asset and below it: an `asset_id`, or a path. A sample counts if its sensor was there in that hour.',
    example: 'Plant 1/Hall 2',
  }),
  group_level: z
    .enum(ASSET_LEVELS, `one of ${ASSET_LEVELS.join(', ')}`)
    .optional()
    .meta({
      description:
        'Adds the sensors together by the asset of this level that is above them, or by none. A sample counts where its sensor was in that hour. Not with `group`.',
      example: 'line',
    }),
};

/** `asset` null: all sensors. `level` undefined: they are not added together. `isOnlyNow`: sensors that have left the asset do not count. */
export function createPlaceFilter(
  tree: Pick<AssetTree, 'assetsBetween' | 'asset' | 'path' | 'ancestorsAt' | 'placementsBetween'>,
  {
    asset,
    level,
    isOnlyNow = false,
  }: { asset: string | null; level?: Level | undefined; isOnlyNow?: boolean },
): PlaceFilter {
  const placeOf = (ids: string[]) => {
    const id = level && ids.find((each) => tree.asset(each)?.level === level);
    return id ? { id, path: tree.path(id) } : null;
  };
  const counts = (device: string, sensor: string) =>
    !isOnlyNow || asset === null || tree.ancestorsAt(device, sensor, NOW).includes(asset);

  return {
    isGrouped: level !== undefined,
    devices(span) {
      const found = asset === null ? null : placementsBelow(tree, asset, span, MAX_DEVICES);
      return found && [...found.keys()];
    },
    spansOf: (device, sensor, { from, to }) =>
      counts(device, sensor)
        ? [...tree.assetsBetween(device, sensor, from, to)]
            .filter(({ assets }) => asset === null || assets.includes(asset))
            .map(({ assets, ...span }) => ({ ...span, place: placeOf(assets) }))
        : [],
  };
}

const targets: TargetsOf = (req) => {
  const { asset } = req.query;
  return asset === undefined ? queryTargets(req) : [{ place: String(asset) }, ...queryTargets(req)];
};

/** Adds `asset` and `group_level` to the query of many sensors. */
export const placedQuery: Formats<Deps> = {
  describe: (operation) => ({
    ...operation,
    targets,
    query: { ...operation.query, ...QUERY },
    description: `${operation.description}\n
With \`asset\` or \`group_level\` a sensor that moves counts at each of its assets for the hours in which it was there. \`place\` is the path of the
asset as it is now. It is null for sensors that are below no asset of this level.`,
  }),
  handler:
    ({ tree }, answer) =>
    (req, res, next) => {
      const { asset, group_level, ...others } = req.query;
      if (asset === undefined && group_level === undefined) return answer(req, res, next);
      const parameters = readParameters({ asset, group_level }, z.strictObject(QUERY));
      if (parameters.group_level !== undefined && 'group' in others)
        throw badParameter('group_level', 'not together with group');
      const { reaches }: Caller = res.locals['caller'];
      const place = parameters.asset === undefined ? null : findAsset(tree, parameters.asset).id;
      filterByPlaces(
        res,
        createPlaceFilter(tree, {
          asset: place,
          level: parameters.group_level,
          isOnlyNow: reaches !== undefined,
        }),
      );
      // The other handler does not know these parameters.
      Object.defineProperty(req, 'query', { value: others });
      return answer(req, res, next);
    },
};
