import { alarms } from './alarms.js';
import { cost, fleet } from './cost.js';
import { dashboard } from './dashboard.js';
import { files } from './files.js';
import { latency, overload } from './latency.js';
import { opening } from './opening.js';
import { packing } from './packing.js';
import { peers } from './peers.js';
import { reading } from './reading.js';
import { disk } from './reading-disk.js';
import { streaming } from './streaming.js';
import { throughput } from './throughput.js';

/** @import { Context } from '../environment/index.js' */

/**
 * A part of the benchmark. It measures, and its result goes unchanged into the raw file. The result can be shown as tables at any time.
 *
 * @template R
 * @typedef {object} Part
 * @property {string} name for --only
 * @property {string} title
 * @property {boolean} [onRequest] it runs only where --only names it, and warms the database itself
 * @property {boolean} [needsDashboard] it opens the dashboard in Chromium
 * @property {(context: Context) => Promise<R>} run
 * @property {(result: R) => Array<{ head: string[], rows: string[][] }>} tables
 */

/** All parts, in the order in which they are run and shown. @type {Part<any>[]} */
export const PARTS = [
  throughput,
  latency,
  overload,
  cost,
  fleet,
  reading,
  disk,
  files,
  packing,
  streaming,
  alarms,
  dashboard,
  opening,
  peers,
];
