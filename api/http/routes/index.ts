import { formOf } from '../prometheus/requests.js';
import * as alarmRules from './alarm-rules.js';
import * as alarms from './alarms.js';
import * as annotations from './annotations.js';
import * as changes from './changes.js';
import * as credentials from './credentials.js';
import * as deadLetters from './dead-letters.js';
import * as devices from './devices.js';
import * as exports from './export.js';
import * as fleet from './fleet.js';
import * as imports from './import.js';
import * as latest from './latest.js';
import * as lineProtocol from './line-protocol.js';
import * as measurements from './measurements.js';
import * as outliers from './outliers.js';
import * as prometheus from './prometheus.js';
import * as prometheusLabels from './prometheus-labels.js';
import * as query from './query.js';
import * as refusedDevices from './refused-devices.js';
import * as search from './search.js';
import * as service from './service.js';
import * as session from './session.js';
import * as unmatchedTopics from './unmatched-topics.js';

/** @import { RequestHandler } from 'express' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */
/** @import { createConcurrencyLimits } from '../long-requests.js' */
/** @import { createStream } from '../stream/index.js' */
/** @import { InfluxDeps } from './line-protocol.js' */
/** @import { DocumentDeps, ServiceDeps } from './service.js' */

/**
 * A route: a method at an address.
 *
 * @template P
 * @typedef {object} RouteOf
 * @property {'get' | 'post' | 'put' | 'patch' | 'delete'} method
 * @property {string} path full path as OpenAPI writes it, with parameters in braces
 * @property {(deps: P) => RequestHandler} create
 * @property {Operation} operation
 */

/** @typedef {RouteOf<any>} Route */

/**
 * Every route under `/api/v1`, with its description. Routes are registered and described only here. To add one:
 *
 * 1. write its handler in a file of this folder; its query is a zod shape in which every field has a description;
 * 2. add the shape of its answer to `SCHEMAS` in the file of its subject in `contract/schemas/`;
 * 3. write its operation next to the handler: summary, scope, query, answers by status and media type, and the codes of
 *    `common/errors.js` that it can answer with, except those of every route (`ANYWHERE` in `contract/operation.js`);
 * 4. add a line here.
 *
 * The tests compare every answer with its operation. `npm run test:contract` sends generated requests.
 *
 * @type {Array<RouteOf<RouteDeps & { limits: ReturnType<typeof createConcurrencyLimits>, stream: ReturnType<typeof createStream> }>>}
 */
export const API_ROUTES = [
  { method: 'get', path: '/api/v1/latest', create: latest.getLatest, operation: latest.listLatest },
  {
    method: 'get',
    path: '/api/v1/stream',
    create: ({ stream }) => stream.handler,
    operation: latest.followLatest,
  },
  {
    method: 'get',
    path: '/api/v1/outliers',
    create: outliers.getOutliers,
    operation: outliers.listOutliers,
  },
  {
    method: 'get',
    path: '/api/v1/outliers/groups',
    create: outliers.getOutlierGroups,
    operation: outliers.listOutlierGroups,
  },
  { method: 'get', path: '/api/v1/fleet', create: fleet.getFleet, operation: fleet.readFleet },
  { method: 'get', path: '/api/v1/search', create: search.getSearch, operation: search.search },
  { method: 'get', path: '/api/v1/devices', create: devices.getDevices, operation: devices.listDevices },
  {
    method: 'get',
    path: '/api/v1/devices/{device}',
    create: devices.getDevice,
    operation: devices.readDevice,
  },
  {
    method: 'put',
    path: '/api/v1/devices/{device}',
    create: devices.putDevice,
    operation: devices.describeDevice,
  },
  {
    method: 'patch',
    path: '/api/v1/devices/{device}/sensors/{sensor}',
    create: devices.patchSensor,
    operation: devices.describeSensor,
  },
  {
    method: 'delete',
    path: '/api/v1/devices/{device}',
    create: devices.deleteDevice,
    operation: devices.retireDevice,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/events',
    create: devices.getEvents,
    operation: devices.listEvents,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/export',
    create: exports.getDeviceExport,
    operation: exports.exportDevice,
  },
  { method: 'get', path: '/api/v1/export', create: exports.getExport, operation: exports.exportSamples },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}',
    create: devices.getSensor,
    operation: devices.readSensor,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/measurements',
    create: measurements.getMeasurements,
    operation: measurements.listMeasurements,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/series',
    create: measurements.getSeries,
    operation: measurements.readSeries,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/baseline',
    create: outliers.getBaseline,
    operation: outliers.readBaseline,
  },
  { method: 'get', path: '/api/v1/query', create: query.getQuery, operation: query.query },
  { method: 'get', path: '/api/v1/changes', create: changes.getChanges, operation: changes.readChanges },
  {
    method: 'post',
    path: '/api/v1/measurements',
    create: measurements.postSubmission,
    operation: measurements.postMeasurements,
  },
  { method: 'post', path: '/api/v1/import', create: imports.postImport, operation: imports.importSamples },
  {
    method: 'post',
    path: '/api/v1/import/proposal',
    create: imports.postProposal,
    operation: imports.proposeImport,
  },
  {
    method: 'get',
    path: '/api/v1/annotations',
    create: annotations.getAnnotations,
    operation: annotations.listAnnotations,
  },
  {
    method: 'post',
    path: '/api/v1/annotations',
    create: annotations.postAnnotation,
    operation: annotations.storeAnnotation,
  },
  {
    method: 'delete',
    path: '/api/v1/annotations/{annotation}',
    create: annotations.deleteAnnotation,
    operation: annotations.removeAnnotation,
  },
  {
    method: 'get',
    path: '/api/v1/alarm-rules',
    create: alarmRules.getRules,
    operation: alarmRules.listRules,
  },
  { method: 'post', path: '/api/v1/alarm-rules', create: alarmRules.postRule, operation: alarmRules.addRule },
  {
    method: 'post',
    path: '/api/v1/alarm-rules/test',
    create: alarmRules.postTest,
    operation: alarmRules.testRule,
  },
  {
    method: 'put',
    path: '/api/v1/alarm-rules/{rule_id}',
    create: alarmRules.putRule,
    operation: alarmRules.replaceRule,
  },
  {
    method: 'delete',
    path: '/api/v1/alarm-rules/{rule_id}',
    create: alarmRules.deleteRule,
    operation: alarmRules.removeRule,
  },
  { method: 'get', path: '/api/v1/alarms', create: alarms.getAlarms, operation: alarms.listAlarms },
  {
    method: 'get',
    path: '/api/v1/alarms/{alarm_id}/events',
    create: alarms.getAlarmEvents,
    operation: alarms.listAlarmEvents,
  },
  {
    method: 'post',
    path: '/api/v1/alarms/{alarm_id}/acknowledge',
    create: alarms.postAcknowledgement,
    operation: alarms.acknowledgeAlarm,
  },
  {
    method: 'post',
    path: '/api/v1/alarms/{alarm_id}/shelve',
    create: alarms.postShelving,
    operation: alarms.shelveAlarm,
  },
  {
    method: 'get',
    path: '/api/v1/alarm-deliveries',
    create: alarms.getDeliveries,
    operation: alarms.listDeliveries,
  },
  {
    method: 'post',
    path: '/api/v1/alarm-deliveries/test',
    create: alarms.postDeliveryTest,
    operation: alarms.testDelivery,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters',
    create: deadLetters.getDeadLetters,
    operation: deadLetters.listDeadLetters,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters/summary',
    create: deadLetters.getDeadLetterSummary,
    operation: deadLetters.summarizeDeadLetters,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters/devices',
    create: refusedDevices.getRefusedDevices,
    operation: refusedDevices.listRefusedDevices,
  },
  {
    method: 'get',
    path: '/api/v1/dead-letters/{id}',
    create: deadLetters.getDeadLetter,
    operation: deadLetters.readDeadLetter,
  },
  {
    method: 'get',
    path: '/api/v1/unmatched-topics',
    create: unmatchedTopics.getUnmatchedTopics,
    operation: unmatchedTopics.listUnmatchedTopics,
  },
  { method: 'get', path: '/api/v1/pipeline', create: fleet.getPipeline, operation: fleet.readPipeline },
  {
    method: 'get',
    path: '/api/v1/pipeline/recent',
    create: fleet.getRecentStats,
    operation: fleet.readRecentStats,
  },
  {
    method: 'get',
    path: '/api/v1/pipeline/unwatched',
    create: fleet.getUnwatchedTime,
    operation: fleet.readUnwatchedTime,
  },
  {
    method: 'post',
    path: '/api/v1/dead-letters/{id}/replay',
    create: deadLetters.postReplay,
    operation: deadLetters.replayDeadLetter,
  },
  {
    method: 'get',
    path: '/api/v1/credentials',
    create: credentials.getCredentials,
    operation: credentials.listCredentials,
  },
  {
    method: 'post',
    path: '/api/v1/credentials',
    create: credentials.postCredential,
    operation: credentials.issueCredential,
  },
  {
    method: 'post',
    path: '/api/v1/credentials/{device}/rotate',
    create: credentials.postRotation,
    operation: credentials.rotateCredential,
  },
  {
    method: 'delete',
    path: '/api/v1/credentials/{device}',
    create: credentials.deleteCredential,
    operation: credentials.revokeCredential,
  },
  { method: 'post', path: '/api/v1/session', create: session.postSession, operation: session.beginSession },
  { method: 'get', path: '/api/v1/session', create: session.getSession, operation: session.readSession },
  { method: 'delete', path: '/api/v1/session', create: session.deleteSession, operation: session.endSession },
];

/**
 * The routes on which clients of InfluxDB write line protocol.
 *
 * @type {Array<RouteOf<RouteDeps>>}
 */
export const LINE_ROUTES = [
  {
    method: 'post',
    path: '/api/v2/write',
    create: lineProtocol.postV2,
    operation: lineProtocol.writeLineProtocol,
  },
  {
    method: 'post',
    path: '/write',
    create: lineProtocol.postV1,
    operation: lineProtocol.writeLineProtocolV1,
  },
];

/** Prefix of the routes for clients of Prometheus, which append the rest of a path to it. */
export const PROMETHEUS_PATH = '/prometheus';

/** The routes for clients of Prometheus. @type {Array<RouteOf<Parameters<typeof prometheus.getRange>[0]>>} */
export const PROMETHEUS_ROUTES = [
  ...getAndPost('query_range', prometheus.getRange, prometheus.rangeQuery),
  ...getAndPost('query', prometheus.getInstant, prometheus.instantQuery),
  ...getAndPost('series', prometheusLabels.getSeries, prometheusLabels.series),
  ...getAndPost('labels', prometheusLabels.getLabels, prometheusLabels.labels),
  {
    method: 'get',
    path: `${PROMETHEUS_PATH}/api/v1/label/{label}/values`,
    create: prometheusLabels.getLabelValues,
    operation: prometheusLabels.labelValues,
  },
  {
    method: 'get',
    path: `${PROMETHEUS_PATH}/api/v1/metadata`,
    create: prometheusLabels.getMetadata,
    operation: prometheusLabels.metadata,
  },
];

/**
 * @template P
 * @param {string} name
 * @param {(deps: P) => RequestHandler} create
 * @param {Parameters<typeof formOf>[0]} operation
 * @returns {Array<RouteOf<P>>}
 */
function getAndPost(name, create, operation) {
  const path = `${PROMETHEUS_PATH}/api/v1/${name}`;
  return /** @type {const} */ (['get', 'post']).map((method) => ({
    method,
    path,
    create,
    operation: method === 'get' ? operation : formOf(operation),
  }));
}

/**
 * The routes that clients of InfluxDB request before they write. Only a process that serves the API serves them.
 *
 * @type {Array<RouteOf<InfluxDeps>>}
 */
export const INFLUX_ROUTES = [
  { method: 'get', path: '/ping', create: lineProtocol.getPing, operation: lineProtocol.pingInflux },
  {
    method: 'get',
    path: '/health',
    create: lineProtocol.getInfluxHealth,
    operation: lineProtocol.readInfluxHealth,
  },
];

/**
 * The routes that report the state of this process. A process in any role serves them.
 *
 * @type {Array<RouteOf<ServiceDeps>>}
 */
export const SERVICE_ROUTES = [
  { method: 'get', path: '/healthz', create: service.getHealth, operation: service.readHealth },
  { method: 'get', path: '/readyz', create: service.getReadiness, operation: service.readReadiness },
  { method: 'get', path: '/metrics', create: service.getMetrics, operation: service.readMetrics },
];

/**
 * The routes of the OpenAPI and AsyncAPI documents. Only a process that serves the API serves them.
 *
 * @type {Array<RouteOf<DocumentDeps>>}
 */
export const DOCUMENT_ROUTES = [
  { method: 'get', path: '/openapi.json', create: service.getOpenApi, operation: service.readOpenApi },
  { method: 'get', path: '/asyncapi.json', create: service.getAsyncApi, operation: service.readAsyncApi },
];

/** @type {Route[]} */
export const ROUTES = [
  ...API_ROUTES,
  ...LINE_ROUTES,
  ...PROMETHEUS_ROUTES,
  ...INFLUX_ROUTES,
  ...SERVICE_ROUTES,
  ...DOCUMENT_ROUTES,
];
