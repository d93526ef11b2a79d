import type { Device } from '../../../../api/ingest/registry/cache.ts';
import type { Series } from '../../../../api/ingest/sample-writer.ts';
import { Random } from '../../../../simulator/random.ts';
import type { Table } from '../../memory-store/tables.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../system/memory-pipeline.ts';
import { type Packet, type Sent, SimulatedNode, sentName } from './edge-history.ts';

/** Unacknowledged messages that a broker or a node sends again. */
const IN_FLIGHT = 3;

/** `late`: a last will that the broker has not published yet. */
class NodeConnection {
  declare node: SimulatedNode;

  /** The messages that an external broker keeps while Millrace is away. */
  queue: Packet[] = [];
  /** The last messages of QoS 1, which may come again. */
  last: Packet[] = [];
  late: Packet | null = null;
  acknowledged: Sent[] = [];
  refused = 0;
  /** Whether a rebirth command is under way. */
  isRebirthRequested = false;
  rebirths = 0;

  constructor(node: SimulatedNode) {
    this.node = node;
  }
}

/**
 * Runs histories of edge nodes against one installation in memory, interleaved: births, deaths, data, other aliases, clocks that jump,
 * messages that come again, and restarts of Millrace, behind either broker.
 * @returns `recovered`: values stored after their refusal
 */
export async function runEdgeHistories({
  seed,
  nodes,
  steps,
  broker,
  tables,
}: {
  seed: number;
  /** each has one history */
  nodes: number;
  /** of each */
  steps: number;
  broker: 'embedded' | 'external';
  /** of `readMemoryTables` */
  tables: Map<string, Table>;
}): Promise<{ faults: string[]; stored: number; refused: number; rebirths: number; recovered: number }> {
  const random = new Random(seed);
  const chance = (share: number) => random.uniform() < share;
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  const faults: string[] = [];
  const stored: Set<string> = new Set();
  const connections = Array.from(
    { length: nodes },
    (_, index) => new NodeConnection(new SimulatedNode(`n${index}`, () => random.uniform(), clock)),
  );
  const byCommand = new Map(
    connections.map((connection) => [`spBv1.0/g/NCMD/${connection.node.id}`, connection]),
  );

  function onStored({ name: device }: Device, _: unknown, series: Series[]) {
    for (const { known, values } of series) {
      for (const value of values) {
        if (sentName(value) !== known.name) {
          faults.push(`${device}: ${value} is a ${sentName(value)}, stored as ${known.name}`);
        }
        stored.add(`${device}/${value}`);
      }
    }
  }

  function send(topic: string) {
    const connection = byCommand.get(topic);
    if (!connection) return;
    connection.isRebirthRequested = true;
    connection.rebirths++;
  }

  const start = (database?: MemoryPipeline['client']) =>
    startMemoryPipeline({ clock, tables, onStored, send, database });
  let pipeline = await start();
  let isAway = false;

  async function deliver(connection: NodeConnection, packet: Packet, again: boolean = false) {
    if (packet.qos === 1 && !again) connection.last = [...connection.last, packet].slice(-IN_FLIGHT);
    const { topic, payload } = packet;
    const onRefused = (refused: unknown[]) => {
      connection.refused += refused.length;
    };
    await pipeline.accept(topic, payload, { dup: again, onRefused });
    connection.acknowledged.push(...packet.values);
  }

  async function publish(connection: NodeConnection, packets: Packet[]) {
    const work = [];
    for (const packet of packets) {
      now += random.uniform() < 0.5 ? 0 : Math.floor(random.uniform() * 400);
      // The embedded broker is away together with Millrace, so nobody can publish.
      if (!isAway) work.push(deliver(connection, packet));
      else if (packet.qos === 1) connection.queue.push(packet);
      if (chance(0.5)) await Promise.all(work.splice(0));
    }
    await Promise.all(work);
  }

  /** The unacknowledged messages come again, in order. */
  async function repeat(connection: NodeConnection) {
    for (const packet of connection.last.slice(-Math.floor(random.uniform() * (IN_FLIGHT + 1)))) {
      await deliver(connection, packet, true);
    }
  }

  async function connect(connection: NodeConnection) {
    await publish(connection, connection.node.connect());
    if (connection.late && chance(0.5)) {
      await publish(connection, [connection.late]);
      connection.late = null;
    }
    // Some clients send the unacknowledged messages of the previous connection after their first new messages.
    if (broker === 'embedded' && chance(0.3)) await repeat(connection);
  }

  async function disconnect(connection: NodeConnection) {
    const will = connection.node.disconnect();
    if (connection.late) await publish(connection, [connection.late]);
    connection.late = null;
    if (chance(0.3)) connection.late = will;
    else await publish(connection, [will]);
  }

  async function restart() {
    if (broker === 'embedded') {
      for (const connection of connections) {
        if (connection.node.isUp) connection.node.disconnect();
        connection.late = null;
      }
    }
    await pipeline.stop();
    isAway = true;
  }

  async function comeBack() {
    pipeline = await start(pipeline.client);
    isAway = false;
    for (const connection of connections) await drain(connection);
  }

  /** The external broker sends unacknowledged messages, then those that waited. */
  async function drain(connection: NodeConnection) {
    if (broker === 'embedded') return;
    await repeat(connection);
    for (const packet of connection.queue.splice(0)) await deliver(connection, packet);
  }

  /** The connection of the subscriber breaks, and births may be missed. */
  async function interrupt() {
    pipeline.ingest.topics.interrupt();
    isAway = true;
    for (let step = 0; step < nodes / 2; step++) await act(pick());
    isAway = false;
    pipeline.ingest.topics.interrupt();
    for (const connection of connections) await drain(connection);
  }

  const pick = () => connections[Math.floor(random.uniform() * connections.length)] as NodeConnection;

  async function act(connection: NodeConnection) {
    const { node } = connection;
    now += Math.floor(random.uniform() * 2000);
    if (!node.isUp) {
      if (broker === 'external' || !isAway) await connect(connection);
      return;
    }
    if (connection.isRebirthRequested && chance(0.3)) {
      connection.isRebirthRequested = false;
      return publish(connection, node.repeatBirth(chance(0.1)));
    }
    const dice = random.uniform();
    if (dice < 0.6) {
      const packet = node.data();
      if (packet) await publish(connection, [packet]);
    } else if (dice < 0.72) await disconnect(connection);
    else if (dice < 0.8) await publish(connection, node.repeatBirth(true));
    else if (dice < 0.88) await publish(connection, node.replaceDevice());
    else node.jump();
  }

  for (let step = 0; step < nodes * steps; step++) {
    await act(pick());
    if (isAway && chance(2 / nodes)) await comeBack();
    else if (!isAway && chance(1 / (nodes * 4))) await restart();
    else if (!isAway && broker === 'external' && chance(1 / (nodes * 5))) await interrupt();
  }
  if (isAway) await comeBack();
  for (const connection of connections) {
    // After a rebirth the data of the node are stored again.
    await publish(
      connection,
      connection.node.isUp ? connection.node.repeatBirth(false) : connection.node.connect(),
    );
    connection.rebirths = 0;
    const packets = [connection.node.data(), connection.node.data()].flatMap((packet) => packet ?? []);
    await publish(connection, packets);
    const values = packets.flatMap(({ values }) => values);
    const missing = values.filter(({ device, value }) => !stored.has(`${device}/${value}`));
    if (missing.length > 0) faults.push(`${connection.node.name}: data after a birth are not stored`);
  }
  for (const connection of connections) {
    const missing = connection.acknowledged.filter(({ device, value }) => !stored.has(`${device}/${value}`));
    if (missing.length > connection.refused) {
      faults.push(
        `${connection.node.name}: ${missing.length} values are lost, and ${connection.refused} were refused`,
      );
    }
  }
  const before = stored.size;
  await replayAll(pipeline);
  const recovered = stored.size - before;
  await pipeline.stop();
  const refused = connections.reduce((sum, connection) => sum + connection.refused, 0);
  const rebirths = connections.reduce((sum, connection) => sum + connection.rebirths, 0);
  return { faults, stored: stored.size, refused, rebirths, recovered };
}

/** An operator replays all dead letters. */
async function replayAll({ ingest, storedDeadLetters }: MemoryPipeline) {
  for (const deadLetter of (await storedDeadLetters()).reverse()) {
    try {
      await ingest.replay(deadLetter);
    } catch (error) {
      if ((error as { code?: string }).code !== 'not_replayable') throw error;
    }
  }
}
