/** Work behind ingest: steps that give way to it, leases that spread the work over processes, and rounds that repeat it. */
export { createLeases, type Leases } from './leases.ts';
export { Rounds } from './rounds.ts';
export { iteratePages, Steps } from './steps.ts';
export { STOP_WITHIN_MS, withTimeLimit } from './time-limit.ts';
