import { createDevices } from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';
import { openConnection } from './connection.ts';
import { createPackets } from './packets.ts';

/** Bytes of one write: enough to make system calls cheap, and few enough to keep the broker from being idle. */
const CHUNK_BYTES = 64 * 1024;

/** Unacknowledged messages of a connection, if `allow` gives the number of messages. */
const WINDOW = 500;

const LAST_PACKET_ID = 65_535;

/**
 * Several connections, each for different devices. The broker acknowledges a message before it is committed. `allow` keeps the broker's
 * queue short: the pipeline counts the commits, and calls `allow` again and again.
 */
export async function createPublisher({
  url,
  shape,
  connections,
  clocks,
  onBroken,
  onPaced = () => {},
}: {
  /** URL of the broker */
  url: string;
  shape: Shape;
  connections: number;
  /** from `createClocks` */
  clocks: Float64Array;
  onBroken: (error: Error) => void;
  /** called for each message that `due` published */
  onPaced?: (device: number, intended: number) => void;
}) {
  const packets = createPackets(shape);
  let published = 0;
  let allowed = 0;
  let next = 0;

  async function openSender(index: number) {
    const first = Math.floor((index * shape.devices) / connections);
    const count = Math.floor(((index + 1) * shape.devices) / connections) - first;
    const devices = createDevices({ clocks, first, count, samples: shape.samples });
    let id = 0;
    let unacknowledged = 0;
    let drained = true;
    /** intended times */
    let due: number[] = [];

    const connection = await openConnection({
      url,
      clientId: `bench-publisher-${process.pid}-${index}`,
      onAcknowledged(many) {
        unacknowledged -= many;
        pump();
      },
      onDrain() {
        drained = true;
        pump();
      },
      onBroken,
    });

    /** @returns number of written messages, limited by the size of a chunk */
    function write(most: number, onEach?: (device: number, index: number) => void): number {
      const room = Math.max(1, Math.floor(CHUNK_BYTES / packets.most));
      const count = Math.min(most, room);
      const chunk = Buffer.allocUnsafe(count * packets.most);
      const now = Date.now();
      let at = 0;
      for (let message = 0; message < count; message++) {
        devices.advance(now);
        id = id === LAST_PACKET_ID ? 1 : id + 1;
        at = packets.write(chunk, at, devices, id);
        onEach?.(devices.number, message);
      }
      published += count;
      unacknowledged += count;
      drained = connection.send(chunk.subarray(0, at));
      return count;
    }

    function pump() {
      while (drained) {
        const most = Math.min(WINDOW - unacknowledged, allowed - published);
        if (most <= 0) return;
        write(most);
      }
    }

    return {
      pump,
      add: (intended: number) => due.push(intended),
      flush() {
        const times = due;
        due = [];
        for (let at = 0; at < times.length; ) {
          const from = at;
          at += write(times.length - at, (device, message) => onPaced(device, Number(times[from + message])));
        }
      },
      close: connection.close,
    };
  }

  const senders = await Promise.all(Array.from({ length: connections }, (_, index) => openSender(index)));

  /** All connections get an equal share. */
  const turn = (): number => {
    next = (next + 1) % senders.length;
    return next;
  };

  return {
    /** @param messages in total */
    allow(messages: number) {
      allowed = messages;
      const first = turn();
      for (let at = 0; at < senders.length; at++) senders[(first + at) % senders.length]?.pump();
    },
    /** Adds a message even if earlier messages are unacknowledged. @param intended in ms of `performance.now()` */
    due: (intended: number) => senders[turn()]?.add(intended),
    flush() {
      for (const sender of senders) sender.flush();
    },
    get published() {
      return published;
    },
    close() {
      for (const { close } of senders) close();
    },
  };
}

export type Publisher = Awaited<ReturnType<typeof createPublisher>>;
