import express from 'express';
import { getDeadLetterSummary, getDeadLetters, replayDeadLetter } from './routes/dead-letters.js';
import { getDevice, getDevices, getSensor } from './routes/devices.js';
import { getLatest } from './routes/latest.js';
import { getMeasurements } from './routes/measurements.js';
import { postMeasurements } from './routes/submission.js';
import { get, named, post } from './serve.js';
import { createStream } from './stream/index.js';

/**
 * What routes are made of.
 *
 * @typedef {object} RouteParts
 * @property {import('../store/index.js').Store} store
 * @property {import('./cursor.js').Cursors} cursors
 * @property {import('../ingest/submission.js').Submit} submit
 * @property {import('../ingest/replay.js').Replay} replay
 * @property {import('../live.js').Live} live
 * @property {import('../vitals.js').Vitals} vitals
 * @property {number} groups `LATEST_GROUPS`
 * @property {number} historyDays
 * @property {number} maxClockSkewMs
 * @property {number} maxMessageBytes
 * @property {() => number} clock epoch ms
 * @property {import('pino').Logger} logger
 * @property {import('../metrics.js').Metrics} metrics
 */

/**
 * Everything under `/api/v1`.
 *
 * @param {RouteParts} parts
 */
export function createApi(parts) {
  const router = express.Router();
  const stream = createStream(parts);
  /** @typedef {Array<[string, import('express').RequestHandler]>} Routes */
  /** @type {Routes} */
  const readers = [
    ['/latest', getLatest(parts)],
    ['/devices', getDevices(parts)],
    ['/devices/:device', getDevice(parts)],
    ['/devices/:device/sensors/:sensor', getSensor(parts)],
    ['/devices/:device/sensors/:sensor/measurements', getMeasurements(parts)],
    ['/dead-letters', getDeadLetters(parts)],
    ['/dead-letters/summary', getDeadLetterSummary(parts)],
    ['/stream', stream.handler],
  ];
  /** @type {Routes} */
  const writers = [
    ['/measurements', postMeasurements(parts)],
    ['/dead-letters/:id/replay', replayDeadLetter(parts)],
  ];
  router.use(noStore);
  for (const [path, handler] of readers) get(router, path, named(`/api/v1${path}`), handler);
  for (const [path, handler] of writers) post(router, path, named(`/api/v1${path}`), handler);
  return { router, stopStreams: stream.stop };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @type {import('express').RequestHandler} */
const noStore = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};
