import type { Context } from '../environment/index.ts';
import { alarms } from './alarms.ts';
import { cost, fleet } from './cost.ts';
import { dashboard } from './dashboard.ts';
import { files } from './files.ts';
import { latency, overload } from './latency.ts';
import { opening } from './opening.ts';
import { packing } from './packing.ts';
import { peers } from './peers.ts';
import { reading } from './reading.ts';
import { disk } from './reading-disk.ts';
import { streaming } from './streaming.ts';
import { throughput } from './throughput.ts';

/** The result goes unchanged into the raw file and can be shown as tables at any time. */
export interface Part<R> {
  /** name for --only */
  name: string;
  title: string;
  /** true: the part runs only if --only names it, and it warms the database itself */
  onRequest?: boolean;
  /** true: the part opens the dashboard in Chromium */
  needsDashboard?: boolean;
  run: (context: Context) => Promise<R>;
  tables(result: R): Array<{ head: string[]; rows: string[][] }>;
}

/** In the order in which they run and are shown. */
export const PARTS: Part<unknown>[] = [
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
