import type { Context } from '../environment/index.ts';
import { figure, type Table } from '../report/table.ts';
import { disk } from './disk.ts';
import { latency } from './latency.ts';
import { opening } from './opening.ts';
import { peers } from './peers.ts';
import { reading } from './reading.ts';
import { soak } from './soak.ts';
import { throughput } from './throughput.ts';

/** The result goes unchanged into the raw file and can be shown as tables at any time. */
export interface Part<R> {
  name: string;
  title: string;
  /** true: the part runs only if --only names it, and it warms the database itself */
  onRequest?: boolean;
  /** true: the part measures one row per sample, too */
  hasRows?: boolean;
  /** true: the part opens the dashboard in Chromium */
  needsDashboard?: boolean;
  run: (context: Context) => Promise<R>;
  tables(result: R): Table[];
  targets?(result: R): Target[];
}

/** `value` is NaN if it was not measured. */
export type Target = { figure: string; value: number } & ({ atLeast: number } | { atMost: number });

/** In the order in which they run and are shown. */
export const PARTS: Part<unknown>[] = [throughput, latency, reading, disk, opening, peers, soak];

/** The table has only targets that were measured. @param results by the name of the part */
export function targetsTable(results: Record<string, unknown>): Table {
  const targets = PARTS.flatMap((part) => {
    const result = results[part.name];
    return result === undefined ? [] : (part.targets?.(result) ?? []);
  });
  const rows = targets
    .filter(({ value }) => !Number.isNaN(value))
    .map((target) => {
      const { value } = target;
      const [wanted, holds] =
        'atLeast' in target
          ? [`${target.atLeast} or more`, value >= target.atLeast]
          : [`${target.atMost} or less`, value <= target.atMost];
      return [target.figure, wanted, figure(value), holds ? 'yes' : 'no'];
    });
  return { head: ['figure', 'target', 'measured', 'holds'], rows };
}
