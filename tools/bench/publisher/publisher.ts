import { createDevices } from '../load/payloads.js';
import { openConnection } from './connection.js';
import { createPackets } from './packets.js';

/** @import { Shape } from '../load/shapes.js' */

/** Maximum number of bytes of one write: enough to make system calls cheap, and few enough to keep the broker from being idle. */
const CHUNK_BYTES = 64 * 1024;

/** Maximum number of unacknowledged messages of a connection, if `allow` gives the number of messages. */
const WINDOW = 500;

const LAST_PACKET_ID = 65_535;

/**
 * Creates a publisher with several connections, each for different devices. The broker acknowledges a message before it is
 * committed. `allow` keeps the broker's queue short: the pipeline counts the commits, and calls `allow` again and again.
 *
 * @param {object} options
 * @param {string} options.url URL of the broker
 * @param {Shape} options.shape
 * @param {number} options.connections
 * @param {Float64Array} options.clocks result of `createClocks`
 * @param {(error: Error) => void} options.onBroken
 * @param {(device: number, intended: number) => void} [options.onPaced] called for each message that `due` published
 */
export async function createPublisher({ url, shape, connections, clocks, onBroken, onPaced = () => {} }) {
  const packets = createPackets(shape);
  let published = 0;
  let allowed = 0;
  let next = 0;

  /** @param {number} index */
  async function openSender(index) {
    const first = Math.floor((index * shape.devices) / connections);
    const count = Math.floor(((index + 1) * shape.devices) / connections) - first;
    const devices = createDevices({ clocks, first, count, samples: shape.samples });
    let id = 0;
    let unacknowledged = 0;
    let drained = true;
    /** @type {number[]} intended times of the messages that are due */
    let due = [];

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

    /**
     * @param {number} most maximum number of messages
     * @param {(device: number, index: number) => void} [onEach]
     * @returns {number} number of written messages, limited by the size of a chunk
     */
    function write(most, onEach) {
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
      /** @param {number} intended */
      add: (intended) => due.push(intended),
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

  /** @returns {number} index of the connection whose turn it is, so that all connections get an equal share */
  const turn = () => {
    next = (next + 1) % senders.length;
    return next;
  };

  return {
    /** @param {number} messages total number of messages that may be published */
    allow(messages) {
      allowed = messages;
      const first = turn();
      for (let at = 0; at < senders.length; at++) senders[(first + at) % senders.length]?.pump();
    },
    /**
     * Adds a message that is due now, even if earlier messages are unacknowledged.
     *
     * @param {number} intended intended time in ms of `performance.now()`
     */
    due: (intended) => senders[turn()]?.add(intended),
    /** Sends the messages that are due. */
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

/** @typedef {Awaited<ReturnType<typeof createPublisher>>} Publisher */
