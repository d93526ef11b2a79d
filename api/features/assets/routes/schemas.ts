import { z } from 'zod';
import { Id, name, pageOf, time } from '../../../http/index.ts';
import { ASSET_LEVELS } from '../tree/index.ts';

const PLANT = '3f2b6f0e-6f0a-4c1d-9a57-5b1a2c3d4e5f';
const HALL = '8d1c2b3a-4f5e-4a6b-8c7d-9e0f1a2b3c4d';

export const AssetName = z
  .string()
  .min(1)
  .max(128)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the OpenAPI document shows this pattern, and not all of its readers know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f/]*$/u)
  .meta({ description: 'A text of 1 to 128 bytes of UTF-8 without control characters and slashes.' });

export const AssetLevel = z.enum(ASSET_LEVELS).meta({
  description: 'Levels of ISA-95, from the top. The level of an asset is deeper than that of its parent.',
});

const Path = z.string().min(1).meta({ description: 'Names from the root to the asset, with slashes.' });

const summary = {
  asset_id: Id,
  name: AssetName,
  level: AssetLevel,
  path: Path,
  parent_id: Id.nullable().meta({ description: 'Null: a root.' }),
  children: z.int().min(0).meta({ description: 'Children now.' }),
  members: z.int().min(0).meta({ description: 'Devices and sensors now at the asset itself.' }),
};

const example = {
  asset_id: HALL,
  name: 'Hall 2',
  level: 'area' as const,
  path: 'Plant 1/Hall 2',
  parent_id: PLANT,
  children: 3,
  members: 0,
};

const Asset = z.strictObject(summary).meta({ examples: [example] });

const AssetDetail = z
  .strictObject({
    ...summary,
    retired: z.boolean(),
    ancestors: z
      .array(z.strictObject({ asset_id: Id, name: AssetName, level: AssetLevel }))
      .meta({ description: 'From the root to the parent.' }),
  })
  .meta({
    examples: [
      { ...example, retired: false, ancestors: [{ asset_id: PLANT, name: 'Plant 1', level: 'site' }] },
    ],
  });

const AssetMember = z
  .strictObject({
    device_id: Id,
    device: name,
    sensor_id: Id.nullable().meta({
      description: 'Null: the device with all its sensors that have no own place.',
    }),
    sensor: name,
    own_sensors: z.array(Id).meta({ description: 'The sensors of the device that have an own place.' }),
    asset_id: Id,
    path: Path,
    levels: z.array(AssetLevel).meta({ description: 'The level of each asset on the path, from the root.' }),
  })
  .meta({
    description: 'A device or a sensor, and the asset that it is placed at.',
    examples: [
      {
        device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
        device: 'press-7',
        sensor_id: null,
        sensor: null,
        own_sensors: [],
        asset_id: HALL,
        path: 'Plant 1/Hall 2',
        levels: ['site', 'area'],
      },
    ],
  });

const AssetPlace = z
  .strictObject({
    sensor_id: Id.nullable(),
    sensor: name,
    asset_id: Id,
    path: Path.meta({ description: 'As it is now.' }),
    from: time.meta({ description: 'Start of the place, a full hour. Null: always.' }),
    to: time.meta({ description: 'Null: the device or the sensor is there now.' }),
  })
  .meta({
    examples: [
      { sensor_id: null, sensor: null, asset_id: HALL, path: 'Plant 1/Hall 2', from: null, to: null },
    ],
  });

const AssetPlaces = z.strictObject({
  device_id: Id,
  places: z.array(AssetPlace).meta({ description: 'Of the device, then of its sensors, each oldest first.' }),
});

const since = z
  .union([
    z.int().meta({ description: 'Epoch milliseconds.' }),
    z.string().meta({ description: 'ISO 8601.' }),
  ])
  .optional();

const reference = z.string().min(1).meta({ description: 'An asset, by its id or its path.' });

const SINCE =
  'The start of the new state. It is rounded down to the full hour (UTC). The new state replaces all later ones.';

const WantedAsset = z
  .strictObject({
    name: AssetName,
    level: AssetLevel.optional().meta({
      description: 'Default: the level below the parent; `site` for a root.',
    }),
    parent: reference.nullable().optional().meta({ description: 'By its id or its path. Default: a root.' }),
  })
  .meta({ examples: [{ name: 'Hall 2', level: 'area', parent: 'Plant 1' }] });

const AssetChange = z
  .strictObject({
    name: AssetName.optional(),
    level: AssetLevel.optional(),
    since: since.meta({ description: `${SINCE} It concerns the name. Default: now.` }),
  })
  .meta({ examples: [{ name: 'Hall North' }] });

const AssetParent = z
  .strictObject({
    parent: reference
      .nullable()
      .meta({ description: 'By its id or its path. Null: the asset becomes a root.' }),
    since: since.meta({ description: `${SINCE} Default: now.` }),
  })
  .meta({ examples: [{ parent: 'Plant 1/Hall 2', since: '2026-11-24T06:00:00Z' }] });

const WantedPlace = z
  .strictObject({
    asset: reference,
    since: since.meta({ description: `${SINCE} Default: always if it is the first place, else now.` }),
  })
  .meta({ examples: [{ asset: 'Plant 1/Hall 2', since: '2026-11-24T06:00:00Z' }] });

const TreeReport = z
  .strictObject({
    dry_run: z.boolean(),
    created: z.int().min(0).meta({ description: 'Lines that create assets.' }),
    placed: z.int().min(0).meta({ description: 'Lines that place a device or a sensor.' }),
    unchanged: z.int().min(0),
    refused: z.int().min(0),
    lines: z
      .array(
        z.strictObject({
          line: z.int().min(1),
          outcome: z.enum(['created', 'placed', 'refused']),
          code: z.string().nullable(),
          detail: z.string().nullable(),
        }),
      )
      .max(1000)
      .meta({ description: 'The first 1000 lines that change something or are refused.' }),
  })
  .meta({
    examples: [
      {
        dry_run: true,
        created: 1,
        placed: 0,
        unchanged: 12,
        refused: 1,
        lines: [
          { line: 7, outcome: 'created', code: null, detail: null },
          { line: 9, outcome: 'refused', code: 'malformed', detail: 'A sensor needs its device.' },
        ],
      },
    ],
  });

const AssetMatches = z.strictObject({
  items: z.array(Asset).max(100),
  more: z.boolean().meta({ description: 'More assets match.' }),
});

export const SCHEMAS = {
  AssetName,
  AssetLevel,
  Asset,
  AssetPage: pageOf(Asset),
  AssetDetail,
  AssetMatches,
  AssetMember,
  AssetMemberPage: pageOf(AssetMember),
  AssetPlace,
  AssetPlaces,
  WantedAsset,
  AssetChange,
  AssetParent,
  WantedPlace,
  TreeReport,
};
