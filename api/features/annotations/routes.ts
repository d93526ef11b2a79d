import type { RequestHandler } from 'express';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime, parseTime } from '../../../common/times.ts';
import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  audit,
  cutRange,
  fields,
  json,
  PAGED,
  parseDevice,
  queryTargets,
  readJsonText,
  readQuery,
  requireReach,
} from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import { parseTimeId } from '../../store/index.ts';
import { SCHEMAS } from './schemas.ts';
import type { Annotation, AnnotationStore } from './store.ts';

type Deps = Core & { annotations: AnnotationStore };

const device = fields.id.meta({
  description: 'The annotated device: a UUID in lower case, or a name. Default: the whole installation.',
  example: 'my-desk',
});

export const LIST = { limit: fields.limit, cursor: fields.cursor, device, from: fields.from, to: fields.to };

const ONE = { device };

/** In bytes. The longest text and name, all characters escaped, fit. */
const MAX_BYTES = 16 * 1024;

/** Null: the installation. @throws `bad_id` */
const deviceBytes = (ref: string | undefined): Buffer | null =>
  ref === undefined ? null : parseDevice(ref).bytes;

export const getAnnotations =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const {
      annotations,
      http: { cursors },
    } = deps;
    const { limit, cursor, device: ref, from, to } = readQuery(req, LIST);
    const range = cutRange({ from, to }, deps.context);
    const bytes = deviceBytes(ref);
    const scope = JSON.stringify(['annotations', bytes?.toString('hex'), from, to]);
    const before = cursor === undefined ? null : Buffer.from(cursors.open<string>(scope, cursor), 'hex');
    const page = await annotations.page(bytes, range, { before, limit });
    res.json({
      items: page.annotations.map((annotation) => annotationItem(annotation, bytes)),
      next: page.next && cursors.seal(scope, page.next.toString('hex')),
    });
  };

export const postAnnotation =
  ({ annotations, context: { clock, config, logger } }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { text, ts, device: ref } = readWanted(await readJsonText(req, res, MAX_BYTES));
    const bytes = deviceBytes(ref);
    await requireReach(res, bytes ? [{ device: uuidText(bytes) }] : []);
    const now = clock();
    const at = ts === undefined ? now : instantOf(ts);
    if (at < now - config.retention.historyDays * DAY_MS) throw new MillraceError('too_old');
    if (at > now + config.ingest.maxClockSkewMs) throw new MillraceError('in_future');
    const item = annotationItem(await annotations.add(bytes, { ts: at, text }), bytes);
    audit(logger, res, 'an annotation was stored', item.id);
    res.status(201).json(item);
  };

export const deleteAnnotation =
  ({ annotations, context: { logger } }: Deps): RequestHandler =>
  async (req, res) => {
    const bytes = deviceBytes(readQuery(req, ONE).device);
    const text = String(req.params['annotation']);
    const id = parseTimeId(text);
    if (!id || !(await annotations.remove(bytes, id)))
      throw new MillraceError('not_found', 'There is no such annotation, or it has expired.');
    audit(logger, res, 'an annotation was removed', text);
    res.status(204).end();
  };

/** @throws `malformed` */
function readWanted(body: string) {
  try {
    return SCHEMAS.WantedAnnotation.parse(JSON.parse(body));
  } catch (error) {
    const message =
      'Send only {"text": "…"}, with "ts" and "device" if needed. A text has 1 to 500 characters.';
    throw new MillraceError('malformed', message, { cause: error });
  }
}

/** @throws `bad_timestamp` */
function instantOf(ts: string | number): number {
  const ms = typeof ts === 'number' ? ts : parseTime(ts);
  if (ms === null) throw new MillraceError('bad_timestamp');
  return ms;
}

/** `device` null: the installation. */
const annotationItem = ({ id, ts, text }: Annotation, device: DeviceBytes | null) => ({
  id: uuidText(id),
  ts: formatTime(ts),
  device_id: device && uuidText(device),
  text,
});

export const listAnnotations: Operation = {
  id: 'listAnnotations',
  tag: 'annotations',
  scope: 'read',
  targets: queryTargets,
  summary: 'The annotations of a device or of the installation, newest first, page by page',
  description:
    'Without `device` those of the whole installation. They are kept for `HISTORY_DAYS` after they were stored.',
  query: LIST,
  answers: { 200: json(SCHEMAS.AnnotationPage) },
  problems: [...PAGED, 'bad_range', 'bad_id'],
};

export const storeAnnotation: Operation = {
  id: 'storeAnnotation',
  tag: 'annotations',
  scope: 'admin',
  targets: 'body',
  summary: 'Stores a text about an instant',
  description:
    'The text is about the device, or without `device` about the whole installation. The device need not be registered. The instant is now by default.',
  body: json(SCHEMAS.WantedAnnotation),
  answers: { 201: json(SCHEMAS.Annotation) },
  problems: [
    'bad_parameter',
    'bad_id',
    'malformed',
    'bad_timestamp',
    'too_old',
    'in_future',
    'too_large',
    'unknown_format',
    'unavailable',
  ],
};

export const removeAnnotation: Operation = {
  id: 'removeAnnotation',
  tag: 'annotations',
  scope: 'admin',
  targets: queryTargets,
  summary: 'Removes an annotation',
  description: 'Name the device of the annotation, as for its list.',
  query: ONE,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/annotations', operation: listAnnotations, handler: getAnnotations },
  { method: 'post', path: '/api/v1/annotations', operation: storeAnnotation, handler: postAnnotation },
  {
    method: 'delete',
    path: '/api/v1/annotations/{annotation}',
    operation: removeAnnotation,
    handler: deleteAnnotation,
  },
];
