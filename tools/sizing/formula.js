import { messageWeight } from '../../schema/rules.js';
import { groupsFor, historyRowBytes, latestWritten, ROW_BYTES, ratesOf } from '../../schema/sizes.js';
import { costOf, messageCost } from './costs.js';
import { RULES } from './rules.js';
import { compressionOf, storedBy, windowsOf } from './storage.js';
import { birthsOf, payloadBytes, registryReadsOf, samplesPerMessage, writesOf } from './traffic.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Shape } from './costs.js' */
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
 */

/**
 * Calculates the needs of a fleet from figures of the bench and the stated rules alone. Rates are a second, sizes bytes.
 *
 * @param {Fleet} fleet
 * @param {Parts} parts
 * @param {Figures} figures
 */
export function installationOf(fleet, parts, figures) {
  const plan = { fleet, parts, figures };
  const { samples, messages } = ratesOf(fleet);
  const writes = writesOf(fleet);
  const stored = storedBy(fleet, compressionOf(figures.disk, parts.signal));
  const one = sum(Object.values(stored.bytes));
  const all = one * parts.replication;
  const { processes, registryReads, database } = processesOf(plan);
  const nodes = nodesOf({ cpu: database, disk: all }, parts);
  return {
    samples,
    messages,
    ...windowsOf(fleet),
    writes,
    requests: sum(Object.values(writes).map(({ requests }) => requests)),
    rows: sum(Object.values(writes).map(({ rows }) => rows)),
    registryReads,
    groups: groupsFor(fleet.sensors),
    stored: { ...stored, one, all },
    nodes,
    busy: database,
    vcpus: nodes.count * parts.node.vcpus,
    diskBytes: nodes.count * parts.node.diskBytes,
    processes,
    broker: brokerOf(plan, processes),
    network: { received: messages * payloadBytes(fleet), written: writtenBytes(fleet, writes) },
  };
}

/** @typedef {ReturnType<typeof installationOf>} Installation */
/** @typedef {{ fleet: Fleet, parts: Parts, figures: Figures }} Plan */

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** @param {Fleet} fleet @param {ReturnType<typeof writesOf>} writes @returns {number} bytes a second, one copy */
const writtenBytes = (fleet, writes) =>
  ratesOf(fleet).messages * messageWeight(shapeOf(fleet)).bytes +
  latestWritten(writes.latest.rows, fleet.sensorsPerDevice) +
  writes.history.rows * historyRowBytes(fleet.intervalMs) +
  writes.statistics.rows * ROW_BYTES.historyStat;

/** Messages that each process receives from each device that connects: its birth and its status. */
const MESSAGES_OF_A_BIRTH = 2;

/** The search ends after this many steps: the number of processes settles within a few, or grows without end. */
const MOST_STEPS = 1000;

/**
 * Ingest processes, each of one thread, and the CPUs that the database needs for them. With more processes, each process
 * reads a device from the registry more often, and more of them receive each birth. So the search continues until a number
 * suffices for itself.
 *
 * @param {Plan} plan
 * @returns {{ processes: number, registryReads: number, database: number }} `processes`: Infinity if no number is
 *   enough; `database`: busy vCPUs, copies included
 */
function processesOf(plan) {
  const { fleet, figures } = plan;
  const packers = Math.ceil((ratesOf(fleet).packedHours * RULES.packAhead.value) / figures.packing.loaded);
  let processes = Math.max(1, packers);
  for (let step = 0; step < MOST_STEPS; step++) {
    const needed = Math.max(processes, ingestFor(plan, processes));
    if (needed === processes || !Number.isFinite(needed)) {
      const registryReads = registryReadsOf(fleet, needed) + birthsOf(fleet) * needed;
      return { processes: needed, registryReads, database: databaseFor(plan, registryReads) };
    }
    processes = needed;
  }
  const none = Number.POSITIVE_INFINITY;
  return { processes: none, registryReads: none, database: none };
}

/** @param {Plan} plan @param {number} processes @returns {number} processes that these would have to be */
function ingestFor(plan, processes) {
  const { fleet, parts, figures } = plan;
  const cost = costOf(figures.throughput, 'ingest');
  const shared =
    ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) +
    packing(plan) +
    registryReadsOf(fleet, processes) * cost.message;
  const room = (1 - parts.headroom) * 1e6 - birthsOf(fleet) * MESSAGES_OF_A_BIRTH * cost.message;
  return room > 0 ? Math.ceil(shared / room) : Number.POSITIVE_INFINITY;
}

/** @param {Plan} plan @param {number} registryReads @returns {number} busy vCPUs: all copies of writes, a quorum of reads */
function databaseFor(plan, registryReads) {
  const { fleet, parts, figures } = plan;
  const cost = costOf(figures.throughput, 'database');
  const written = ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) + packing(plan);
  const quorum = Math.floor(parts.replication / 2) + 1;
  return (written * parts.replication + registryReads * cost.message * quorum) / 1e6;
}

/** Packing in CPU µs a second of each side: ingest and database shared the cores of the bench. @param {Plan} plan */
const packing = ({ fleet, figures }) =>
  (ratesOf(fleet).packedHours / figures.packing.alone) * (figures.machine.processors / 2) * 1e6;

/**
 * @param {{ cpu: number, disk: number }} needed busy vCPUs, bytes of all copies
 * @param {Parts} parts
 * @returns {{ byCpu: number, byDisk: number, count: number }}
 */
export function nodesOf({ cpu, disk }, { node, headroom, fill }) {
  const byCpu = Math.ceil(cpu / (node.vcpus * (1 - headroom)));
  const byDisk = Math.ceil(disk / (node.diskBytes * fill));
  const least = RULES.leastNodes.value;
  return { byCpu, byDisk, count: least * Math.max(1, Math.ceil(Math.max(byCpu, byDisk) / least)) };
}

/** Connections of a process: one with its session, and one for live readers and health checks. */
const CONNECTIONS_OF_A_PROCESS = 2;

/**
 * @param {Plan} plan
 * @param {number} processes
 * @returns {{ connections: number, births: number, cores: number, nodes: number }} `births`: messages of births and status
 *   delivered a second; `cores`: of Mosquitto, each with its share kept free; `nodes`: for connections
 */
function brokerOf({ fleet, parts, figures }, processes) {
  const devices = fleet.sensors / fleet.sensorsPerDevice;
  const cost = costOf(figures.throughput, 'broker');
  const births = birthsOf(fleet) * MESSAGES_OF_A_BIRTH * processes;
  const busy = (ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) + births * cost.message) / 1e6;
  const connections = Math.ceil(devices / parts.devicesPerConnection) + CONNECTIONS_OF_A_PROCESS * processes;
  return {
    connections,
    births,
    cores: Math.ceil(busy / (1 - parts.headroom)),
    nodes: Math.ceil(connections / RULES.brokerConnections.value),
  };
}

/** @param {Fleet} fleet @returns {Shape} */
const shapeOf = (fleet) => ({ sensors: fleet.sensorsPerDevice, samples: samplesPerMessage(fleet) });
