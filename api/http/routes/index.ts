import type { RequestHandler } from 'express';
import type { RouteDeps } from '../api.ts';
import type { Operation } from '../contract/operation.ts';
import type { createConcurrencyLimits } from '../long-requests.ts';
import { formOf } from '../prometheus/requests.ts';
import type { createStream } from '../stream/index.ts';
import * as alarmRules from './alarm-rules.ts';
import * as alarms from './alarms.ts';
import * as annotations from './annotations.ts';
import * as changes from './changes.ts';
import * as credentials from './credentials.ts';
import * as deadLetters from './dead-letters.ts';
import * as devices from './devices.ts';
import * as exports from './export.ts';
import * as fleet from './fleet.ts';
import * as imports from './import.ts';
import * as latest from './latest.ts';
import type { InfluxDeps } from './line-protocol.ts';
import * as lineProtocol from './line-protocol.ts';
import * as measurements from './measurements.ts';
import * as outliers from './outliers.ts';
import * as prometheus from './prometheus.ts';
import * as prometheusLabels from './prometheus-labels.ts';
import * as query from './query.ts';
import * as refusedDevices from './refused-devices.ts';
import * as search from './search.ts';
import type { DocumentDeps, ServiceDeps } from './service.ts';
import * as service from './service.ts';
import * as session from './session.ts';
import * as unmatchedTopics from './unmatched-topics.ts';

export interface RouteOf<P> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** full path as OpenAPI writes it, with parameters in braces */
  path: string;
  create: (deps: P) => RequestHandler;
  operation: Operation;
}

export type Route = RouteOf<never>;

/**
 * Every route under `/api/v1`, with its description. Routes are registered and described only here. To add one:
 *
 * 1. write its handler in a file of this folder; its query is a zod shape in which every field has a description;
 * 2. add the shape of its answer to `SCHEMAS` in the file of its subject in `contract/schemas/`;
 * 3. write its operation next to the handler: summary, scope, query, answers by status and media type, and the codes of
 *    `common/errors.ts` that it can answer with, except those of every route (`ANYWHERE` in `contract/operation.ts`);
 * 4. add a line here.
 *
 * The tests compare every answer with its operation. `npm run test:contract` sends generated requests.
 */
export const API_ROUTES: Array<
  RouteOf<
    RouteDeps & {
      limits: ReturnType<typeof createConcurrencyLimits>;
      stream: ReturnType<typeof createStream>;
    }
  >
> = [
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

/** Clients of InfluxDB write line protocol to these. */
export const LINE_ROUTES: Array<RouteOf<RouteDeps>> = [
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

/** Clients of Prometheus append the rest of a path to it. */
export const PROMETHEUS_PATH = '/prometheus';

export const PROMETHEUS_ROUTES: Array<RouteOf<Parameters<typeof prometheus.getRange>[0]>> = [
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

function getAndPost<P>(
  name: string,
  create: (deps: P) => RequestHandler,
  operation: Parameters<typeof formOf>[0],
): Array<RouteOf<P>> {
  const path = `${PROMETHEUS_PATH}/api/v1/${name}`;
  return (['get', 'post'] as const).map((method) => ({
    method,
    path,
    create,
    operation: method === 'get' ? operation : formOf(operation),
  }));
}

/** Clients of InfluxDB request these before they write. Only a process that serves the API serves them. */
export const INFLUX_ROUTES: Array<RouteOf<InfluxDeps>> = [
  { method: 'get', path: '/ping', create: lineProtocol.getPing, operation: lineProtocol.pingInflux },
  {
    method: 'get',
    path: '/health',
    create: lineProtocol.getInfluxHealth,
    operation: lineProtocol.readInfluxHealth,
  },
];

/** The state of this process. A process in any role serves these. */
export const SERVICE_ROUTES: Array<RouteOf<ServiceDeps>> = [
  { method: 'get', path: '/healthz', create: service.getHealth, operation: service.readHealth },
  { method: 'get', path: '/readyz', create: service.getReadiness, operation: service.readReadiness },
  { method: 'get', path: '/metrics', create: service.getMetrics, operation: service.readMetrics },
];

/** Only a process that serves the API serves these. */
export const DOCUMENT_ROUTES: Array<RouteOf<DocumentDeps>> = [
  { method: 'get', path: '/openapi.json', create: service.getOpenApi, operation: service.readOpenApi },
  { method: 'get', path: '/asyncapi.json', create: service.getAsyncApi, operation: service.readAsyncApi },
];

export const ROUTES: Route[] = [
  ...API_ROUTES,
  ...LINE_ROUTES,
  ...PROMETHEUS_ROUTES,
  ...INFLUX_ROUTES,
  ...SERVICE_ROUTES,
  ...DOCUMENT_ROUTES,
];
