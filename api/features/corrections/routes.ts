import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { UNDO_DAYS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  abortOnClose,
  audit,
  badParameter,
  SCHEMAS as CORE_SCHEMAS,
  cutRange,
  fields,
  json,
  PAGED,
  PAYLOADS,
  parseDevice,
  queryTargets,
  REFUSAL_CODES,
  readQuery,
  replaceSubmission,
  toCorrectionRequest,
} from '../../http/index.ts';
import type { ConcurrencyLimit } from '../../http/long-requests.ts';
import type { Route } from '../../http/route.ts';
import { parseTimeId } from '../../store/index.ts';
import { correctionItem } from '../shared/corrections/index.ts';
import { selectSensors } from '../shared/selection/index.ts';
import { removeSamples } from './removal.ts';
import { SCHEMAS } from './schemas.ts';
import { undoCorrection } from './undo.ts';

export type Deps = Core & {
  removals: ConcurrencyLimit;
};

/** Of one removal. */
const MAX_SENSORS = 10_000;

const reason = z.string().min(1).max(500).optional().meta({
  description: 'Why. It is listed with the correction.',
  example: 'The sensor was on the bench.',
});

export const LIST = {
  limit: fields.limit,
  cursor: fields.cursor,
  device: fields.id.meta({
    description: 'The corrected device: a UUID in lower case, or a name. Default: the whole installation.',
    example: 'my-desk',
  }),
  from: fields.from,
  to: fields.to,
};

const REPLACE = {
  device: z
    .string('the device that measured')
    .meta({ description: 'The device that measured: a UUID in lower case, or a name.', example: 'my-desk' }),
  reason,
};

const REMOVE = {
  device: fields.id.meta({ description: 'A UUID in lower case, or a name.', example: 'my-desk' }),
  sensor: fields.id.meta({ description: 'The name or the UUID of a sensor.', example: 'temperature' }),
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  from: fields.from.meta({ ...fields.from.meta(), description: 'Start of the range, included. Required.' }),
  to: fields.to.meta({ ...fields.to.meta(), description: 'End of the range, not included. Required.' }),
  dry_run: z
    .enum(['true', 'false'], 'true or false')
    .default('false')
    .meta({ description: 'With `true` the samples are only counted.' }),
  reason,
};

const UNDO = { reason };

export const postCorrection =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const { device: name, reason: why = null } = readQuery(req, REPLACE);
    await replaceSubmission(deps, { req, res }, { name, reason: why });
  };

export const deleteMeasurements =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const {
      device,
      sensor,
      site,
      type,
      dry_run: dryRun,
      reason: why = null,
      from,
      to,
    } = readQuery(req, REMOVE);
    if (device === undefined && site === undefined && type === undefined)
      throw badParameter('device', 'name a device, a site or a type');
    if (from === undefined || to === undefined)
      throw badParameter(from === undefined ? 'from' : 'to', 'is required');
    const range = cutRange({ from, to }, deps.context);
    const selection = {
      devices: device === undefined ? [] : [device],
      sensors: sensor === undefined ? [] : [sensor],
      site,
      type,
    };
    const release = deps.removals.acquire();
    await abortOnClose(res, async (signal) => {
      // A removal goes on for a while after the client has disconnected.
      try {
        const selected = await selectSensors(deps, selection, { limit: MAX_SENSORS, to: range.to, signal });
        const isDry = dryRun === 'true';
        const removal = { range, ...toCorrectionRequest(res, why), isDry, signal };
        const { samples, sensors, devices } = await removeSamples(deps, selected, removal);
        if (!isDry) {
          const target = [device, sensor, site, type].filter((text) => text !== undefined).join('/');
          deps.context.metrics.corrected.inc({ kind: 'remove' }, samples);
          audit(deps.context.logger, res, 'samples were removed', target);
        }
        res.json({ dry_run: isDry, devices, sensors, samples });
      } finally {
        release();
      }
    });
  };

export const postUndo =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const { reason: why = null } = readQuery(req, UNDO);
    const text = String(req.params['correction']);
    const id = parseTimeId(text);
    const correction = id && (await deps.store.corrections.find(id));
    if (!correction) throw new MillraceError('not_found', 'There is no such correction, or it has expired.');
    const release = deps.removals.acquire();
    try {
      const undone = await undoCorrection(deps, correction, toCorrectionRequest(res, why));
      deps.context.metrics.corrected.inc({ kind: 'undo' }, undone.samples);
      audit(deps.context.logger, res, 'a correction was undone', text);
      res.json(correctionItem(undone));
    } finally {
      release();
    }
  };

export const getCorrections =
  ({ store, context, http: { cursors } }: Deps): RequestHandler =>
  async (req, res) => {
    const { limit, cursor, device: ref, from, to } = readQuery(req, LIST);
    const range = cutRange({ from, to }, context);
    const bytes = ref === undefined ? null : parseDevice(ref).bytes;
    const scope = JSON.stringify(['corrections', bytes?.toString('hex'), from, to]);
    const before = cursor === undefined ? null : Buffer.from(cursors.open<string>(scope, cursor), 'hex');
    const page = await store.corrections.page(bytes, range, { before, limit });
    res.json({
      items: page.corrections.map(correctionItem),
      next: page.next && cursors.seal(scope, page.next.toString('hex')),
    });
  };

export const replaceMeasurements: Operation = {
  id: 'replaceMeasurements',
  tag: 'corrections',
  scope: 'correct',
  summary: 'Replaces stored measurements of a device',
  description: `Takes the bodies of \`POST /measurements\`. Each measurement needs a time. Its value replaces whatever is stored for this instant of the sensor, also
if a message with another value is repeated later. An instant without a stored measurement gets one. The answer comes after the commit, and from then on
all readers see the new values.`,
  query: REPLACE,
  body: {
    'application/json': PAYLOADS.Measurements,
    'application/senml+cbor': { text: 'SenML as CBOR (RFC 8428, section 6).' },
  },
  answers: { 200: json(CORE_SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'refused', 'busy', 'unavailable'],
};

export const removeMeasurements: Operation = {
  id: 'removeMeasurements',
  tag: 'corrections',
  scope: 'correct',
  summary: 'Removes stored measurements of a device, a site or a type',
  description: `Name a device, a site or a type. Removes the samples that are stored for \`[from, to)\`. They stay removed if their messages are repeated. Samples of the
range that arrive later for an hour in which samples were removed may stay removed too. Count them with \`dry_run=true\` first. If the request ends early, repeat it.`,
  query: REMOVE,
  answers: { 200: json(SCHEMAS.Removal) },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'query_too_large', 'busy', 'unavailable'],
};

export const undoOperation: Operation = {
  id: 'undoCorrection',
  tag: 'corrections',
  scope: 'correct',
  summary: 'Undoes a correction',
  description: `Readers see what they would see without the correction. Later corrections stay. It is a correction itself, so an undo can be undone.
A correction can be undone for ${UNDO_DAYS} days. If the request ends early, repeat it.`,
  query: UNDO,
  answers: { 200: json(SCHEMAS.Correction) },
  problems: ['bad_parameter', 'not_found', 'too_late', 'busy', 'unavailable'],
};

export const listCorrections: Operation = {
  id: 'listCorrections',
  tag: 'corrections',
  scope: 'read',
  targets: queryTargets,
  summary: 'The corrections of a device or of the installation, newest first, page by page',
  description:
    'The range is of the times at which they were accepted. They are listed for `HISTORY_DAYS`. Without `device` those of all devices.',
  query: LIST,
  answers: { 200: json(SCHEMAS.CorrectionPage) },
  problems: [...PAGED, 'bad_range', 'bad_id'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/corrections', operation: listCorrections, handler: getCorrections },
  { method: 'post', path: '/api/v1/corrections', operation: replaceMeasurements, handler: postCorrection },
  {
    method: 'post',
    path: '/api/v1/corrections/{correction}/undo',
    operation: undoOperation,
    handler: postUndo,
  },
  {
    method: 'delete',
    path: '/api/v1/measurements',
    operation: removeMeasurements,
    handler: deleteMeasurements,
  },
];
