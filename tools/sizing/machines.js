import { ratesOf } from '../../schema/sizes.js';
import { costOf, messageCost } from './costs.js';
import { RULES } from './rules.js';
import { birthsOf, registryReadsOf, samplesPerMessage } from './traffic.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Shape, Way } from './costs.js' */
/** @import { Parts } from './installation.js' */
/** @import { Fleet } from './traffic.js' */

/** Messages that each process receives from each device that connects: its birth and its status. */
const MESSAGES_OF_A_BIRTH = 2;

/** The processes settle on their number within a few steps, or grow without end. */
const MOST_STEPS = 1000;

/**
 * Ingest processes, each of one thread, and what the database does for them, in CPUs. The more processes, the more often one
 * has to read a device again, and the more of them receive each birth. So the search continues until a number suffices for itself.
 *
 * @param {{ fleet: Fleet, parts: Parts, way: Way, figures: Figures }} plan
 * @returns {{ processes: number, registryReads: number, database: number }} `processes`: Infinity where no number is
 *   enough; `database`: busy vCPUs, copies included
 */
export function processesOf(plan) {
  let processes = Math.max(1, packersOf(plan));
  for (let step = 0; step < MOST_STEPS; step++) {
    const needed = Math.max(processes, ingestFor(plan, processes));
    if (needed === processes || !Number.isFinite(needed)) {
      const registryReads = readsFor(plan, needed);
      return { processes: needed, registryReads, database: databaseFor(plan, registryReads) };
    }
    processes = needed;
  }
  return {
    processes: Number.POSITIVE_INFINITY,
    registryReads: Number.POSITIVE_INFINITY,
    database: Number.POSITIVE_INFINITY,
  };
}

/** @typedef {Parameters<typeof processesOf>[0]} Plan */

/** Processes that keep up with closing hours next to their ingest. @param {Plan} plan */
const packersOf = ({ fleet, way, figures }) =>
  way === 'rows'
    ? 0
    : Math.ceil((ratesOf(fleet).packedHours * RULES.packAhead.value) / figures.packing.loaded);

/** @param {Plan} plan @param {number} processes @returns {number} processes that these many would have to be */
function ingestFor(plan, processes) {
  const { fleet, parts, way, figures } = plan;
  const cost = costOf(figures.throughput, way, 'ingest');
  const shared =
    ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) +
    packing(plan) +
    registryReadsOf(fleet, processes) * cost.message;
  const each = birthsOf(fleet) * MESSAGES_OF_A_BIRTH * cost.message;
  const room = (1 - parts.headroom) * 1e6 - each;
  return room > 0 ? Math.ceil(shared / room) : Number.POSITIVE_INFINITY;
}

/** One read for each device that a process has forgotten, and for each birth that it receives. @param {Plan} plan @param {number} processes */
const readsFor = ({ fleet }, processes) => registryReadsOf(fleet, processes) + birthsOf(fleet) * processes;

/** @param {Plan} plan @param {number} registryReads */
function databaseFor(plan, registryReads) {
  const { fleet, parts, way, figures } = plan;
  const cost = costOf(figures.throughput, way, 'database');
  const written = ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) + packing(plan);
  const quorum = Math.floor(parts.replication / 2) + 1;
  return (written * parts.replication + registryReads * cost.message * quorum) / 1e6;
}

/** CPU µs a second of each side: the bench's cores were shared by both. @param {Plan} plan */
const packing = ({ fleet, way, figures }) =>
  way === 'rows'
    ? 0
    : (ratesOf(fleet).packedHours / figures.packing.alone) * (figures.machine.processors / 2) * 1e6;

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

/**
 * @param {Plan & { processes: number }} plan
 * @returns {{ connections: number, sessions: number, births: number, cores: number, nodes: number }} `births`: messages of
 *   births and status that go out a second; `cores`: of Mosquitto, each with its share kept free; `nodes`: for connections
 */
export function brokerOf({ fleet, parts, way, figures, processes }) {
  const devices = fleet.sensors / fleet.sensorsPerDevice;
  const cost = costOf(figures.throughput, way, 'broker');
  const births = birthsOf(fleet) * MESSAGES_OF_A_BIRTH * processes;
  const busy = (ratesOf(fleet).messages * messageCost(cost, shapeOf(fleet)) + births * cost.message) / 1e6;
  const connections = Math.ceil(devices / parts.devicesPerConnection) + CONNECTIONS_OF_A_PROCESS * processes;
  return {
    connections,
    sessions: processes,
    births,
    cores: Math.ceil(busy / (1 - parts.headroom)),
    nodes: Math.ceil(connections / RULES.brokerConnections.value),
  };
}

/** The one with its session, and one for live readers and health checks. */
const CONNECTIONS_OF_A_PROCESS = 2;

/** @param {Fleet} fleet @returns {Shape} */
const shapeOf = (fleet) => ({ sensors: fleet.sensorsPerDevice, samples: samplesPerMessage(fleet) });
