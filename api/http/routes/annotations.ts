import { MillraceError } from '../../../common/errors.js';
import { formatTime, parseTime } from '../../../common/times.js';
import { uuidText } from '../../../schema/ids.js';
import { DAY_MS } from '../../../schema/rules.js';
import { parseTimeId } from '../../store/index.js';
import { audit } from '../audit.js';
import { readJsonText } from '../body.js';
import { json, PAGED } from '../contract/operation.js';
import { PAYLOADS } from '../contract/payloads.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { cutRange, fields, parseDevice, readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { Annotation } from '../../store/annotations.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

const device = fields.id.meta({
  description: 'The annotated device: a UUID in lower case, or a name. Default: the whole installation.',
  example: 'my-desk',
});

export const LIST = { limit: fields.limit, cursor: fields.cursor, device, from: fields.from, to: fields.to };

const ONE = { device };

/** Limit of a request body, in bytes. The longest text and name, all characters escaped, fit. */
const MAX_BYTES = 16 * 1024;

/**
 * @param {string | undefined} ref
 * @returns {Buffer | null} 16 bytes of the device id; null: the installation
 * @throws {MillraceError} `bad_id`
 */
const deviceBytes = (ref) => (ref === undefined ? null : parseDevice(ref).bytes);

/**
 * `GET /annotations`: lists the annotations of a device or of the installation, newest first.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getAnnotations = (deps) => async (req, res) => {
  const { store, cursors } = deps;
  const { limit, cursor, device: ref, from, to } = readQuery(req, LIST);
  const range = cutRange({ from, to }, deps);
  const bytes = deviceBytes(ref);
  const scope = JSON.stringify(['annotations', bytes?.toString('hex'), from, to]);
  const before = cursor === undefined ? null : Buffer.from(cursors.open(scope, cursor), 'hex');
  const { annotations, next } = await store.annotations.page(bytes, range, { before, limit });
  res.json({
    items: annotations.map((annotation) => annotationItem(annotation, bytes)),
    next: next && cursors.seal(scope, next.toString('hex')),
  });
};

/**
 * `POST /annotations`: stores an annotation, which is a text about an instant.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const postAnnotation =
  ({ store, clock, historyDays, maxClockSkewMs, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const { text, ts, device: ref } = readWanted(await readJsonText(req, res, MAX_BYTES));
    const bytes = deviceBytes(ref);
    const now = clock();
    const at = ts === undefined ? now : instantOf(ts);
    if (at < now - historyDays * DAY_MS) throw new MillraceError('too_old');
    if (at > now + maxClockSkewMs) throw new MillraceError('in_future');
    const item = annotationItem(await store.annotations.add(bytes, { ts: at, text }), bytes);
    audit(logger, res, 'an annotation was stored', item.id);
    res.status(201).json(item);
  };

/**
 * `DELETE /annotations/{annotation}`: removes an annotation.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const deleteAnnotation =
  ({ store, logger }) =>
  async (req, res) => {
    const bytes = deviceBytes(readQuery(req, ONE).device);
    const text = String(req.params['annotation']);
    const id = parseTimeId(text);
    if (!id || !(await store.annotations.remove(bytes, id)))
      throw new MillraceError('not_found', 'There is no such annotation, or it has expired.');
    audit(logger, res, 'an annotation was removed', text);
    res.status(204).end();
  };

/** @param {string} body @throws {MillraceError} `malformed` */
function readWanted(body) {
  try {
    return PAYLOADS.WantedAnnotation.parse(JSON.parse(body));
  } catch (error) {
    const message =
      'Send only {"text": "…"}, with "ts" and "device" if needed. A text has 1 to 500 characters.';
    throw new MillraceError('malformed', message, { cause: error });
  }
}

/** @param {string | number} ts @returns {number} epoch ms @throws {MillraceError} `bad_timestamp` */
function instantOf(ts) {
  const ms = typeof ts === 'number' ? ts : parseTime(ts);
  if (ms === null) throw new MillraceError('bad_timestamp');
  return ms;
}

/** @param {Annotation} annotation @param {Buffer | null} device 16 bytes; null: the installation */
const annotationItem = ({ id, ts, text }, device) => ({
  id: uuidText(id),
  ts: formatTime(ts),
  device_id: device && uuidText(device),
  text,
});

/** @type {Operation} */
export const listAnnotations = {
  id: 'listAnnotations',
  tag: 'annotations',
  scope: 'read',
  summary: 'The annotations of a device or of the installation, newest first, page by page',
  description:
    'Without `device` those of the whole installation. They are kept for `HISTORY_DAYS` after they were stored.',
  query: LIST,
  answers: { 200: json(SCHEMAS.AnnotationPage) },
  problems: [...PAGED, 'bad_range', 'bad_id'],
};

/** @type {Operation} */
export const storeAnnotation = {
  id: 'storeAnnotation',
  tag: 'annotations',
  scope: 'admin',
  summary: 'Stores a text about an instant',
  description:
    'The text is about the device, or without `device` about the whole installation. The device need not be registered. The instant is now by default.',
  body: json(PAYLOADS.WantedAnnotation),
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

/** @type {Operation} */
export const removeAnnotation = {
  id: 'removeAnnotation',
  tag: 'annotations',
  scope: 'admin',
  summary: 'Removes an annotation',
  description: 'Name the device of the annotation, as for its list.',
  query: ONE,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};
