import { messageWeight, SAMPLE_ROW_BYTES } from '../../schema/rules.js';
import { groupsFor, historyRowBytes, latestWritten, ROW_BYTES, ratesOf } from '../../schema/sizes.js';
import { brokerOf, nodesOf, processesOf } from './machines.js';
import { RULES } from './rules.js';
import { compressionOf, storedBy, windowsOf } from './storage.js';
import { payloadBytes, samplesPerMessage, writesOf } from './traffic.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Way } from './costs.js' */
/** @import { Signal } from './storage.js' */
/** @import { Fleet } from './traffic.js' */

/**
 * The parts of an installation, and how full they may be.
 *
 * @typedef {object} Parts
 * @property {{ vcpus: number, diskBytes: number }} node
 * @property {number} replication copies of everything
 * @property {number} headroom share of all CPUs that is kept free, 0 to below 1
 * @property {number} fill share of the disks that may be filled
 * @property {number} devicesPerConnection more than 1 behind gateways
 * @property {Signal} signal
 * @property {number} nodePrice of a node and hour
 * @property {number} corePrice of an hour of a vCPU for ingest and broker
 */

/**
 * The needs of a fleet: everything that npm run size prints, from figures of the bench and stated rules alone. Rates are a second,
 * sizes bytes, costs a month.
 *
 * @param {Fleet} fleet
 * @param {Parts} parts
 * @param {Way} way
 * @param {Figures} figures
 */
export function installationOf(fleet, parts, way, figures) {
  const plan = { fleet, parts, way, figures };
  const writes = writesOf(fleet, way);
  const stored = storedBy(fleet, way, compressionOf(figures.disk, parts.signal));
  const one = sum(Object.values(stored.bytes));
  const disk = one * parts.replication;
  const { processes, registryReads, database } = processesOf(plan);
  const nodes = nodesOf({ cpu: database, disk }, parts);
  const broker = brokerOf({ ...plan, processes });
  const { samples, messages } = ratesOf(fleet);
  return {
    samples,
    messages,
    ...windowsOf(fleet, way),
    writes,
    requests: sum(Object.values(writes).map(({ requests }) => requests)),
    rows: sum(Object.values(writes).map(({ rows }) => rows)),
    registryReads,
    groups: groupsFor(fleet.sensors),
    stored: { ...stored, one, all: disk },
    nodes,
    cpu: { database, nodesByRuleOfThumb: ruleOfThumb(writes, parts) },
    vcpus: nodes.count * parts.node.vcpus,
    diskBytes: nodes.count * parts.node.diskBytes,
    processes,
    broker,
    network: { received: messages * payloadBytes(fleet), written: writtenBytes(fleet, writes, way) },
    cost: {
      nodes: nodes.count * parts.nodePrice * RULES.hoursAMonth.value,
      cores: (processes + broker.cores) * parts.corePrice * RULES.hoursAMonth.value,
    },
  };
}

/** @typedef {ReturnType<typeof installationOf>} Installation */

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** @param {ReturnType<typeof writesOf>} writes @param {Parts} parts @returns {number} nodes, were each row an operation */
function ruleOfThumb(writes, { node, replication }) {
  const operations = sum(Object.values(writes).map(({ rows }) => rows)) * replication;
  return Math.ceil(operations / (RULES.scyllaOperations.value * (node.vcpus / 2)));
}

/** @param {Fleet} fleet @param {ReturnType<typeof writesOf>} writes @param {Way} way @returns {number} bytes a second, one copy */
function writtenBytes(fleet, writes, way) {
  const message = messageWeight({ sensors: fleet.sensorsPerDevice, samples: samplesPerMessage(fleet) });
  const samples =
    way === 'rows' ? writes.samples.rows * SAMPLE_ROW_BYTES : ratesOf(fleet).messages * message.bytes;
  return (
    samples +
    latestWritten(writes.latest.rows, fleet.sensorsPerDevice) +
    writes.history.rows * historyRowBytes(fleet.intervalMs) +
    writes.statistics.rows * ROW_BYTES.historyStat
  );
}
