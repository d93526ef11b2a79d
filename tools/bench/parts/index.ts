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
 * A part of the benchmark. Its result goes unchanged into the raw file and can be shown as tables at any time.
 *
 * @template R
 * @typedef {object} Part
 * @property {string} name name for --only
 * @property {string} title
 * @property {boolean} [onRequest] true: the part runs only if --only names it, and it warms the database itself
 * @property {boolean} [needsDashboard] true: the part opens the dashboard in Chromium
 * @property {(context: Context) => Promise<R>} run
 * @property {(result: R) => Array<{ head: string[], rows: string[][] }>} tables
 */

/** All parts, in the order in which they run and are shown. @type {Part<any>[]} */
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
