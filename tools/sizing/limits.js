import { MOST_GROUPS, packersFor, ROWS_PER_GROUP } from '../../schema/sizes.js';
import { installationOf } from './formula.js';
import { RULES } from './rules.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Installation, Parts } from './formula.js' */
/** @import { Fleet } from './traffic.js' */

/** The default of LATEST_GROUPS, which the first migration fixes for ever. */
const DEFAULT_GROUPS = 16;

/**
 * A limit that a growing fleet reaches. More of the same, a setting or a contract passes a `step`. Only another design
 * passes a `hard` limit.
 *
 * @typedef {object} Limit
 * @property {string} name
 * @property {'step' | 'hard'} kind
 * @property {string} answer what to do about it
 * @property {(installation: Installation, fleet: Fleet) => boolean} passed
 */

/** @type {Limit[]} */
export const LIMITS = [
  {
    name: 'one ingest process',
    kind: 'step',
    answer: 'an external broker with shared subscriptions, and more processes',
    passed: ({ processes }) => processes > 1,
  },
  {
    name: 'LATEST_GROUPS at its default',
    kind: 'step',
    answer: 'set it before the first migration: it never changes afterwards',
    passed: ({ groups }) => groups > DEFAULT_GROUPS,
  },
  {
    name: "ScyllaDB's free license",
    kind: 'step',
    answer: 'a contract, ScyllaDB Cloud, or Cassandra',
    passed: ({ vcpus, diskBytes }) => vcpus > RULES.freeVcpus.value || diskBytes > RULES.freeDisk.value,
  },
  {
    name: 'three nodes',
    kind: 'step',
    answer: 'more nodes, three at a time',
    passed: ({ nodes }) => nodes.count > RULES.leastNodes.value,
  },
  {
    name: 'one Mosquitto, which is one thread',
    kind: 'step',
    answer: 'a clustered broker',
    passed: ({ broker }) => broker.cores > 1,
  },
  {
    name: 'connections of one broker node',
    kind: 'step',
    answer: 'more broker nodes, or gateways',
    passed: ({ broker }) => broker.nodes > 1,
  },
  {
    name: 'one cluster of ScyllaDB',
    kind: 'hard',
    answer: 'denser nodes, a shorter history, or several clusters',
    passed: ({ nodes }) => nodes.count > RULES.scyllaNodes.value,
  },
  {
    name: 'one Cassandra cluster of the largest published size',
    kind: 'hard',
    answer: 'the same',
    passed: ({ nodes }) => nodes.count > RULES.testedNodes.value,
  },
  {
    name: 'births outweigh measurements at the broker',
    kind: 'hard',
    answer: 'births by a shared subscription as well, or several installations',
    passed: ({ broker, messages }) => broker.births > messages,
  },
  {
    name: 'LATEST_GROUPS at its largest',
    kind: 'hard',
    answer: 'several keyspaces',
    passed: (_, { sensors }) => packersFor(sensors) > MOST_GROUPS || sensors / MOST_GROUPS > ROWS_PER_GROUP,
  },
];

/** The largest fleet that the search covers, in sensors, and its precision. */
const FARTHEST = 1e12;
const CLOSE = 1.001;

/**
 * Where each limit stands, the nearest first; those beyond 1e12 sensors are left out.
 *
 * @param {Fleet} fleet whose sensors are left aside
 * @param {Parts} parts
 * @param {Figures} figures
 * @returns {Array<Limit & { at: number }>} `at`: sensors from which it is passed
 */
export function limitsOf(fleet, parts, figures) {
  const passed = (/** @type {Limit} */ limit, /** @type {number} */ sensors) => {
    const grown = { ...fleet, sensors };
    return limit.passed(installationOf(grown, parts, figures), grown);
  };
  return LIMITS.filter((limit) => passed(limit, FARTHEST))
    .map((limit) => ({ ...limit, at: firstWhere((sensors) => passed(limit, sensors)) }))
    .sort((a, b) => a.at - b.at);
}

/** @param {(sensors: number) => boolean} holds false first, true at FARTHEST */
function firstWhere(holds) {
  let [low, high] = [1, FARTHEST];
  if (holds(low)) return low;
  while (high / low > CLOSE) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
