import * as credentials from '../contract/operations/credentials.js';
import * as deadLetters from '../contract/operations/dead-letters.js';
import * as devices from '../contract/operations/devices.js';
import * as fleet from '../contract/operations/fleet.js';
import * as latest from '../contract/operations/latest.js';
import * as measurements from '../contract/operations/measurements.js';
import * as service from '../contract/operations/service.js';
import * as session from '../contract/operations/session.js';
import { deleteCredential, getCredentials, postCredential, rotateCredential } from './credentials.js';
import { getDeadLetter, getDeadLetterSummary, getDeadLetters, replayDeadLetter } from './dead-letters.js';
import { deleteDevice, getDevice, getDevices, getSensor } from './devices.js';
import { getAsyncApi, getOpenApi } from './documents.js';
import { getEvents } from './events.js';
import { getFleet } from './fleet.js';
import { getLatest } from './latest.js';
import { getMeasurements } from './measurements.js';
import { getPipeline, getRecentStats } from './pipeline.js';
import { getSeries } from './series.js';
import { getHealth, getMetrics, getReadiness } from './service.js';
import { deleteSession, getSession, postSession } from './session.js';
import { postMeasurements } from './submission.js';

/**
 * What is served at one address by one method.
 *
 * @template P
 * @typedef {object} RouteOf
 * @property {'get' | 'post' | 'delete'} method
 * @property {string} path as OpenAPI writes it, in full, with parameters in braces
 * @property {(parts: P) => import('express').RequestHandler} create
 * @property {import('../contract/operation.js').Operation} operation
 */

/** @typedef {RouteOf<any>} Route */

/**
 * Every route under `/api/v1`, and all that its document needs: there is no other place where a route is registered or
 * described. To add one:
 *
 * 1. its handler in a file here, with its query as an exported shape of zod in which every field has a description;
 * 2. the shape of its answer in `contract/schemas.js`, under a name in `SCHEMAS`;
 * 3. its operation in `contract/operations/`: summary, scope, query, answers by status and media type, and the codes of
 *    `common/errors.js` that it can answer with; those of every route (`ANYWHERE` in `contract/problems.js`) aside;
 * 4. a line here.
 *
 * The tests hold every answer that they get to this, and `npm run test:contract` tries what else might come.
 *
 * @type {Array<RouteOf<import('../api.js').RouteParts & { places: ReturnType<typeof import('../places.js').createAllPlaces>, stream: ReturnType<typeof import('../stream/index.js').createStream> }>>}
 */
export const API_ROUTES = [
  { method: 'get', path: '/api/v1/latest', create: getLatest, operation: latest.listLatest },
  {
    method: 'get',
    path: '/api/v1/stream',
    create: ({ stream }) => stream.handler,
    operation: latest.followLatest,
  },
  { method: 'get', path: '/api/v1/fleet', create: getFleet, operation: fleet.readFleet },
  { method: 'get', path: '/api/v1/devices', create: getDevices, operation: devices.listDevices },
  { method: 'get', path: '/api/v1/devices/{device}', create: getDevice, operation: devices.readDevice },
  {
    method: 'delete',
    path: '/api/v1/devices/{device}',
    create: deleteDevice,
    operation: devices.retireDevice,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/events',
    create: getEvents,
    operation: devices.listEvents,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}',
    create: getSensor,
    operation: devices.readSensor,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/measurements',
    create: getMeasurements,
    operation: measurements.listMeasurements,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/series',
    create: getSeries,
    operation: measurements.readSeries,
  },
  {
    method: 'post',
    path: '/api/v1/measurements',
    create: postMeasurements,
    operation: measurements.postMeasurements,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters',
    create: getDeadLetters,
    operation: deadLetters.listDeadLetters,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters/summary',
    create: getDeadLetterSummary,
    operation: deadLetters.summarizeDeadLetters,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters/{id}',
    create: getDeadLetter,
    operation: deadLetters.readDeadLetter,
  },
  { method: 'get', path: '/api/v1/pipeline', create: getPipeline, operation: fleet.readPipeline },
  {
    method: 'get',
    path: '/api/v1/pipeline/recent',
    create: getRecentStats,
    operation: fleet.readRecentStats,
  },
  {
    method: 'post',
    path: '/api/v1/dead-letters/{id}/replay',
    create: replayDeadLetter,
    operation: deadLetters.replayDeadLetter,
  },
  {
    method: 'get',
    path: '/api/v1/credentials',
    create: getCredentials,
    operation: credentials.listCredentials,
  },
  {
    method: 'post',
    path: '/api/v1/credentials',
    create: postCredential,
    operation: credentials.issueCredential,
  },
  {
    method: 'post',
    path: '/api/v1/credentials/{device}/rotate',
    create: rotateCredential,
    operation: credentials.rotateCredential,
  },
  {
    method: 'delete',
    path: '/api/v1/credentials/{device}',
    create: deleteCredential,
    operation: credentials.revokeCredential,
  },
  { method: 'post', path: '/api/v1/session', create: postSession, operation: session.beginSession },
  { method: 'get', path: '/api/v1/session', create: getSession, operation: session.readSession },
  { method: 'delete', path: '/api/v1/session', create: deleteSession, operation: session.endSession },
];

/**
 * How this process is: served in every role.
 *
 * @type {Array<RouteOf<import('./service.js').ServiceParts>>}
 */
export const SERVICE_ROUTES = [
  { method: 'get', path: '/healthz', create: getHealth, operation: service.readHealth },
  { method: 'get', path: '/readyz', create: getReadiness, operation: service.readReadiness },
  { method: 'get', path: '/metrics', create: getMetrics, operation: service.readMetrics },
];

/**
 * What describes the others: served where readers are.
 *
 * @type {Array<RouteOf<import('./documents.js').DocumentParts>>}
 */
export const DOCUMENT_ROUTES = [
  { method: 'get', path: '/openapi.json', create: getOpenApi, operation: service.readOpenApi },
  { method: 'get', path: '/asyncapi.json', create: getAsyncApi, operation: service.readAsyncApi },
];

/** @type {Route[]} */
export const ROUTES = [...API_ROUTES, ...SERVICE_ROUTES, ...DOCUMENT_ROUTES];
