/** HTTP: the routes, streams and files through which clients reach the other folders of `api/`, and what routes of features need. */
export { requireReach, requireScope } from '../access/http/index.ts';
export { audit, toCorrectionRequest } from './audit.ts';
export { bodyOf, closeUnread, codingOf, readJsonText } from './body.ts';
export { flushCompressed } from './compression.ts';
export { binaryMessage, type Channel, jsonMessage, NAMED } from './contract/channels.ts';
export { componentSchemas, mergeOf, openApiDocument } from './contract/openapi.ts';
export { json, PAGED, REFUSAL_CODES } from './contract/operation.ts';
export { BirthSensor, PAYLOADS, words } from './contract/payloads.ts';
export { LineText, SCHEMAS } from './contract/schemas/index.ts';
export { Accepted, Refusal } from './contract/schemas/ingest.ts';
export { LatestItem } from './contract/schemas/latest.ts';
export { Id, Name, name, pageOf, Time, time, value } from './contract/schemas/shared.ts';
export { createGuards } from './guards.ts';
export { createHttp } from './http.ts';
export {
  abortOnClose,
  createConcurrencyLimit,
  createConcurrencyLimits,
  createWaitingLimit,
  MAX_CONCURRENT,
} from './long-requests.ts';
export {
  badParameter,
  checkEncoding,
  cutRange,
  digits,
  fields,
  parseDevice,
  parseSensor,
  parseTimeParameter,
  rangeAt,
  readParameters,
  readQuery,
  timeOf,
} from './parameters.ts';
export { filterByPlaces, placeFilterOf } from './places.ts';
export { answerResult } from './problems.ts';
export { DEVICES_QUERY, devicePages, findMeasured, findSensor, noSuchDevice } from './routes/devices.ts';
export { CORE_CONTRACT } from './routes/index.ts';
export { LATEST_QUERY, latestPages } from './routes/latest.ts';
export { MEASUREMENTS_QUERY, replaceSubmission, SERIES_QUERY, seriesReader } from './routes/measurements.ts';
export { bindRoutes } from './serve.ts';
export { createStream } from './stream/index.ts';
export { keyOf } from './stream/latest-cache.ts';
export { pathTargets, queryTargets } from './targets.ts';
