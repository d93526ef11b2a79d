import { z } from 'zod';
import { identifyDevice, identifySensor, isName } from '../../../../schema/ids.ts';
import type { StoredRule } from '../store/rules.ts';

const Name = z
  .string()
  .min(1)
  .max(128)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the OpenAPI document shows this pattern, and not all of its readers know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/u)
  .refine(isName);

const limit = z.number();
const seconds = 'The change of the value in a second, without its sign.';

const held = {
  for_ms: z
    .int()
    .min(0)
    .max(2_592_000_000)
    .optional()
    .meta({ description: 'How long the condition must hold, in ms. Default: one sample is enough.' }),
  for_samples: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .meta({ description: 'For how many samples the condition must hold. Default: 1.' }),
};

// Not a tuple, because generators of client code do not support tuples.
const band = z
  .array(z.number())
  .length(2)
  .refine(
    ([low, high]) => Number(low) < Number(high),
    'the first number must be less than the second',
  ) as unknown as z.ZodType<[number, number]>;

const THRESHOLD = { clear: limit.optional(), ...held };

export const CONDITION_KINDS = ['above', 'below', 'outside', 'rate', 'absent'] as const;

const Condition = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('above'), limit, ...THRESHOLD })
    .refine(({ limit, clear = limit }) => clear <= limit, {
      path: ['clear'],
      error: 'must not exceed limit',
    }),
  z
    .strictObject({ kind: z.literal('below'), limit, ...THRESHOLD })
    .refine(({ limit, clear = limit }) => clear >= limit, {
      path: ['clear'],
      error: 'must not be less than limit',
    }),
  z
    .strictObject({ kind: z.literal('outside'), limit: band, clear: band.optional(), ...held })
    .refine(({ limit, clear = limit }) => clear[0] >= limit[0] && clear[1] <= limit[1], {
      path: ['clear'],
      error: 'must lie within limit',
    }),
  z
    .strictObject({
      kind: z.literal('rate'),
      limit: z.number().positive().meta({ description: seconds }),
      clear: z.number().positive().optional(),
      ...held,
    })
    .refine(({ limit, clear = limit }) => clear <= limit, {
      path: ['clear'],
      error: 'must not exceed limit',
    }),
  z
    .strictObject({
      kind: z.literal('absent'),
      for_ms: z.int().min(1000).max(2_592_000_000).optional().meta({ description: 'The silence in ms.' }),
      intervals: z.number().min(1).max(1000).optional().meta({
        description: 'The silence in intervals of the sensor, by its birth. Default: 3, without `for_ms`.',
      }),
    })
    .refine(({ for_ms, intervals }) => for_ms === undefined || intervals === undefined, {
      path: ['intervals'],
      error: 'must not stand with for_ms',
    }),
]);

const Scope = z
  .strictObject({
    type: Name.optional().meta({ description: 'Sensors of this type.' }),
    site: Name.optional().meta({ description: 'Sensors of this site.' }),
    device: Name.optional().meta({ description: 'The device: a UUID in lower case, or a name.' }),
    sensor: Name.optional().meta({ description: 'The sensor of `device`: a UUID in lower case, or a name.' }),
  })
  .refine((scope) => Object.keys(scope).length > 0, 'must name a type, a site, a device or a sensor')
  .refine(({ sensor, device }) => sensor === undefined || device !== undefined, {
    path: ['sensor'],
    error: 'must stand with device',
  });

export const SEVERITIES = ['info', 'warning', 'critical'] as const;

const shape = {
  name: Name.meta({ description: 'A text of 1 to 128 bytes.' }),
  scope: Scope,
  condition: Condition,
  severity: z.enum(SEVERITIES),
  text: z.string().max(500).optional().meta({ description: 'What to do. It goes out with each alarm.' }),
};

export const WantedRule = z
  .strictObject({
    ...shape,
    since: z
      .union([z.int(), z.iso.datetime({ offset: true })])
      .optional()
      .meta({
        description:
          'The time of measurement from which the rule applies: epoch milliseconds, or ISO 8601. Default: now.',
      }),
  })
  .meta({
    examples: [
      {
        name: 'Freezer too warm',
        scope: { type: 'temperature', site: 'freezer' },
        condition: { kind: 'above', limit: -15, clear: -17, for_ms: 600_000 },
        severity: 'critical',
      },
    ],
  });

export const RuleDefinition = z.strictObject(shape);

export type Definition = z.infer<typeof RuleDefinition>;
export type Wanted = z.infer<typeof WantedRule>;
export type RuleCondition = z.infer<typeof Condition>;

export interface RuleVersion {
  version: number;
  since: number;
  /** epoch ms, exclusive; infinite for the newest version */
  until: number;
  definition: Definition;
  removed: boolean;
  ids: { device: string | null; sensor: string | null };
}

export interface Rule {
  id: string;
  bytes: Buffer;
  /** in order of their numbers, at least one */
  versions: RuleVersion[];
}

/** `rows`: ascending, of one rule. `bytes`: 16 bytes of the id. */
export function toRule(rows: StoredRule[], bytes: Buffer): Rule {
  const versions = rows.map((row, index) => {
    const definition = RuleDefinition.parse(JSON.parse(row.definition));
    // A later version that begins earlier replaces the one before from its own start.
    const later = rows.slice(index + 1).map(({ since }) => since);
    return {
      version: row.version,
      since: row.since,
      until: Math.min(Number.POSITIVE_INFINITY, ...later),
      definition,
      removed: row.removed,
      ids: idsOf(definition.scope),
    };
  });
  return { id: (rows[0] as StoredRule).ruleId, bytes, versions };
}

function idsOf({ device, sensor }: Definition['scope']) {
  const id = device === undefined ? null : (identifyDevice(device)?.id ?? null);
  return { device: id, sensor: id && sensor !== undefined ? (identifySensor(id, sensor)?.id ?? null) : null };
}

export const newestOf = (rule: Rule): RuleVersion => rule.versions.at(-1) as RuleVersion;

export function covers(
  { definition: { scope }, ids, removed }: Pick<RuleVersion, 'definition' | 'ids' | 'removed'>,
  deviceId: string,
  sensor: { id: string; type: string | null; site: string | null },
) {
  return (
    !removed &&
    (ids.device === null ? scope.device === undefined : ids.device === deviceId) &&
    (ids.sensor === null ? scope.sensor === undefined : ids.sensor === sensor.id) &&
    (scope.type === undefined || scope.type === sensor.type) &&
    (scope.site === undefined || scope.site === sensor.site)
  );
}
