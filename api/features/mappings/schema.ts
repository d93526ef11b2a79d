import { z } from 'zod';
import { isZone } from '../../../common/zones.ts';
import { brokenPatternRule, MAX_PARTS, namesIn, TextPattern, TopicPattern } from './pattern.ts';
import { isPointer } from './pointer.ts';
import { REQUIRED, type TimeUnit } from './times.ts';

/** Includes the mappings of presets. Each topic outside the contract may be compared with all mappings. */
export const MAX_MAPPINGS = 200;

const Pointer = z.string({ error: 'must be a JSON Pointer' }).refine(isPointer, {
  error: "must be a JSON Pointer such as /object/temperature, or '' for the whole payload",
});

/** The first pointer that finds a value is used. */
const Pointers = z
  .union([Pointer, z.array(Pointer).min(1).max(8)], { error: 'must be a JSON Pointer, or a list of them' })
  .transform((given) => [given].flat());

const Words = <T>(value: z.ZodType<T>) => z.record(z.string(), value).default({});

/** `{base}` at the beginning of a pattern is replaced before this check. */
const Pattern = z.string({ error: 'must be a topic pattern' }).superRefine((text, context) => {
  const message = brokenPatternRule(text);
  if (message) context.addIssue({ code: 'custom', message });
});

const Patterns = z
  .union([Pattern, z.array(Pattern).min(1).max(16)], { error: 'must be a topic pattern, or a list of them' })
  .transform((given) => [given].flat());

const Name = z.union([z.string().min(1).max(256), z.strictObject({ pointer: Pointers })], {
  error: "must be a text such as '{device}', or {pointer: /name}",
});

/** a template with named levels, or pointers to the name in the payload */
export type NameSpec = string | { pointer: string[] };

const Text = z.union(
  [
    z.string().min(1).max(128),
    z.strictObject({ pointer: Pointers, words: Words(z.string().min(1).max(128)) }),
  ],
  { error: 'must be a text such as °C, or {pointer: /unit}' },
);

/** a text or pointers; `words` replaces texts */
export type TextSpec = string | { pointer: string[]; words: Record<string, string> };

const described = { unit: Text.optional(), type: Text.optional() };

/** `invalid`: numbers that a device sends instead of a measurement */
const Sensors = z.record(
  z.string().min(1),
  z.strictObject({
    ...described,
    invalid: z.array(z.number(), { error: 'must be a list of numbers' }).max(20).optional(),
  }),
);

const Skip = z
  .strictObject({
    pointer: Pointer,
    is: z
      .union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))])
      .transform((given) => [given].flat())
      .optional(),
    missing: z.boolean().optional(),
  })
  .refine(({ is, missing }) => (is === undefined) !== (missing === undefined), {
    error: 'must have either is, with values, or missing, with true or false',
  });

const Numbers = z
  .union([z.literal('text'), z.array(z.string().min(1).max(256)).max(100)], {
    error: 'must be text, or a list of names whose texts are numbers',
  })
  .optional();

const Value = z
  .strictObject(
    {
      pointer: Pointer.optional(),
      all: Pointer.optional(),
      best: z
        .strictObject(
          { list: Pointer, by: Pointer },
          { error: 'must be {list, by}: a list, and the number that is greatest in its best element' },
        )
        .optional(),
      sensor: Name.optional(),
      ignore: z.array(z.string().min(1).max(256)).max(100).default([]),
      numbers: Numbers,
      skip: z
        .array(Skip, { error: 'must be a list of {pointer, is} or {pointer, missing}' })
        .max(50)
        .default([]),
      ...described,
    },
    { error: 'must be an entry such as {pointer: /temperature, unit: °C}' },
  )
  .refine(({ pointer, all }) => (pointer === undefined) !== (all === undefined), {
    error: 'must have either pointer, for one value, or all, for every value below',
  })
  .refine(({ pointer, best }) => best === undefined || pointer !== undefined, {
    error: 'must have best only with pointer, which is within the best element',
  })
  .refine(({ all, ignore }) => all !== undefined || ignore.length === 0, {
    error: 'must have ignore only with all',
  })
  .refine(({ all, numbers }) => all !== undefined || !Array.isArray(numbers), {
    error: 'must have numbers: text with pointer, and a list only with all',
  });

const Time = z
  .union(
    [
      Pointers.transform((pointer) => ({ pointer })),
      z.strictObject({
        pointer: Pointers,
        unit: z.enum(['s', 'ms', 'us', 'ns'], { error: 'must be s, ms, us or ns' }).optional(),
        zone: z
          .string()
          .refine((zone) => zone === REQUIRED || isZone(zone), {
            error: 'must be a time zone such as Europe/Berlin, or required',
          })
          .optional(),
      }),
    ],
    { error: 'must be a JSON Pointer, or {pointer, unit: s, ms, us or ns, zone: Europe/Berlin or required}' },
  )
  .transform((given) => ({ unit: 'ms' as TimeUnit, zone: 'UTC', ...given }));

const Once = z.strictObject(
  { by: z.array(Pointer).min(1).max(8), within_s: z.int().min(1).max(86_400) },
  { error: 'must be {by, within_s}: pointers, the first to a counter, and a number of seconds' },
);

const TextPart = z
  .string({ error: 'must be a text pattern' })
  .min(1, { error: 'must not be empty' })
  .refine((text) => new TextPattern(text).size <= MAX_PARTS, {
    error: `must not have more than ${MAX_PARTS} of {name} and *`,
  });

const Match = z
  .strictObject({
    pointer: Pointers,
    topic: Patterns.default([]),
    text: z
      .union([TextPart, z.array(TextPart).min(1).max(16)], {
        error: 'must be a text pattern, or a list of them',
      })
      .transform((given) => [given].flat())
      .default([]),
  })
  .refine(({ topic, text }) => topic.length + text.length > 0, { error: 'must have topic or text' });

const mapping = z
  .strictObject({
    name: z
      .string({ error: 'must be a name of the mapping' })
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, { error: 'must be up to 64 of a-z, 0-9, - and _' }),
    topic: Patterns,
    device: Name.default('{device}'),
    skip: z
      .union([z.literal(true), z.array(Skip).min(1).max(50)], {
        error: 'must be true, or a list of {pointer, is} or {pointer, missing}',
      })
      .default([]),
    match: z.array(Match).max(16).default([]),
    each: Pointer.optional(),
    time: Time.optional(),
    once: Once.optional(),
    values: z
      .array(Value, { error: 'must be a list of values' })
      .min(1, { error: 'must have at least one value' })
      .max(1000)
      .optional(),
    words: Words(z.number({ error: 'must be a number' })),
    sensors: Sensors.default({}),
    describes: z.strictObject({ sensor: Name.optional(), ...described }).optional(),
  })
  // The transform runs only if all members are valid.
  .transform((spec, context) => {
    const { values = [], describes, skip } = spec;
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (skip !== true && (spec.values === undefined) === (describes === undefined))
      issue([], 'must have either values, or describes, or skip: true');
    const missing = skip === true ? [] : missingNames(spec);
    if (missing.length > 0) {
      const needed = missing.map((name) => `{${name}}`).join(', ');
      issue(['topic'], `must have a level ${needed}, which device or sensor needs`);
    }
    return { ...spec, values };
  });

export type MappingSpec = z.infer<typeof mapping>;

/** Names in addition to the named levels: the path of the value, and its key in `each`. */
const IMPLICIT_NAMES = new Set(['path', 'key']);

function missingNames({
  topic,
  device,
  match,
  values = [],
}: {
  topic: string[];
  device: NameSpec;
  match: Array<{ topic: string[]; text: string[] }>;
  values?: Array<{ sensor?: NameSpec }>;
}): string[] {
  const templates = [device, ...values.flatMap(({ sensor }) => sensor ?? [])];
  const needed = templates.flatMap((template) => (typeof template === 'string' ? namesIn(template) : []));
  const extracted = match.flatMap((each) => [
    ...each.topic.flatMap((text) => new TopicPattern(text).names),
    ...each.text.flatMap((text) => new TextPattern(text).names),
  ]);
  const given = new Set([...IMPLICIT_NAMES, ...extracted]);
  return [
    ...new Set(
      needed.filter(
        (name) => !given.has(name) && !topic.every((text) => new TopicPattern(text).names.includes(name)),
      ),
    ),
  ];
}

const use = z.strictObject({
  use: z.string({ error: 'must be the name of a preset' }),
  base: z
    .string()
    .regex(/^[^+#{}\s/][^+#{}]*[^+#{}/]$|^[^+#{}\s/]$/, {
      error: 'must be the beginning of topics, such as home/zigbee',
    })
    .optional(),
  zone: z
    .string()
    .refine((zone) => zone === REQUIRED || isZone(zone), {
      error: 'must be a time zone such as Europe/Berlin, or required',
    })
    .optional(),
  sensors: Sensors.optional(),
  ignore: z.array(z.string().min(1).max(256)).max(100).optional(),
  numbers: Numbers,
});

export type Use = z.infer<typeof use>;

export const MAPPING = mapping;

export const USE = use;

/** Each entry is checked separately with `MAPPING` or `USE`, so that an error refers to the right kind of entry. */
export const FILE = z.strictObject(
  {
    mappings: z
      .array(z.looseObject({}, { error: 'must be a mapping' }), { error: 'must be a list of mappings' })
      .min(1, { error: 'must have at least one mapping' })
      .max(MAX_MAPPINGS, { error: `must not have more than ${MAX_MAPPINGS} mappings` }),
  },
  { error: 'must be {mappings: […]}' },
);

export const PRESET = z.strictObject({
  title: z.string(),
  base: z.string().optional(),
  mappings: z.array(z.looseObject({})),
});
