import type { Socket } from 'node:net';
import type { ReadScheduler } from './read-scheduler.ts';

/** Limits at which the connection is not read further. A message counts until its acknowledgement is sent. */
const MAX_UNSETTLED = { messages: 64, bytes: 1024 * 1024 };

/** A connection reads one slice, and then other connections read. */
const SLICE_PACKETS = 128;

/** Node.js reads this many bytes from a socket with one read. Slices are cut from it. */
const CHUNK_BYTES = 65_536;

/**
 * Backpressure for one connection of the broker. aedes calls `socket.read()` whenever data is readable, and handles
 * every packet of the result in the same iteration of the event loop. So this reader replaces `socket.read()`. It
 * returns one slice of packets when the connection has its turn (`read-scheduler.ts`), and otherwise `null`, as if no
 * data had arrived. Then the buffers of the operating system fill, and TCP slows the device down.
 *
 *     socket  [CONNECT][SUBSCRIBE][SUBSCRIBE] ... [SUBSCRIBE][PUBL        the rest of a PUBLISH is still to come
 *              `--1--'  `------------ 128 ------------'
 *
 * The reader returns `null` while:
 * - too many messages of this connection are unsettled;
 * - messages of any connection wait for the byte budget, or the reading time of this iteration of the event loop is
 *   used up;
 * - the CONNECT is being answered. aedes would queue later packets, and handle all of them at once.
 *
 * aedes reads again after the last packet of a slice. Node.js emits `readable` only when an empty buffer fills.
 * Invariant: the reader is idle only in one of these cases. The socket has nothing readable. aedes handles a packet of
 * the last slice. Reading is paused, because too much is unsettled, the connection is stopped, or its CONNECT is
 * unanswered. A turn is requested.
 */
export class ConnectionReader {
  #socket;
  #read;
  #scheduler;
  #scanner;
  #isConnected;
  #onTooLarge;
  #shortens;
  #messages = 0;
  #bytes = 0;
  /** aedes asked for data while too much was unsettled. */
  #isHeld = false;
  #isStopped = false;
  /** Bytes after the last slice that were read and put back into the socket. */
  #putBack = 0;
  /** The beginning of an incomplete fixed header. aedes gets only a complete header, because its length may be changed. */
  #header: Buffer = EMPTY;
  /** Bytes by which the packet that is being read was shortened. */
  #surplus = 0;
  /** Bytes of a shortened packet that must still be dropped. */
  #toDrop = 0;
  #cancelWait: (() => void) | null = null;

  constructor(
    socket: Socket,
    {
      scheduler,
      packetLimit,
      onTooLarge,
      shortens = () => false,
      isConnected,
    }: {
      scheduler: ReadScheduler;
      packetLimit: PacketLimit;
      onTooLarge: (bytes: number) => void;
      /** A packet that is larger than its limit is cut to the limit. Default: it is not cut. */
      shortens?: (firstByte: number, bytes: number) => boolean;
      isConnected: () => boolean;
    },
  ) {
    this.#socket = socket;
    this.#scheduler = scheduler;
    this.#scanner = new PacketScanner(packetLimit);
    this.#onTooLarge = onTooLarge;
    this.#shortens = shortens;
    this.#isConnected = isConnected;
    this.#read = socket.read.bind(socket);
    socket.read = (size) => (size === 0 ? this.#peek() : this.#nextSlice());
    socket.on('close', () => this.#cancelWait?.());
    this.#endInTurn();
  }

  enter(size: number) {
    this.#messages++;
    this.#bytes += size;
  }

  leave(size: number) {
    this.#messages--;
    this.#bytes -= size;
    if (!this.#isHeld || this.#isFull) return;
    this.#isHeld = false;
    this.#socket.emit('readable');
  }

  /** Backpressure may be the reason that nothing is read from the device. */
  get isBusy() {
    return this.#messages > 0 || this.#cancelWait !== null;
  }

  stop() {
    this.#isStopped = true;
  }

  get #isFull() {
    return this.#isStopped || this.#messages >= MAX_UNSETTLED.messages || this.#bytes >= MAX_UNSETTLED.bytes;
  }

  /** Handles `read(0)`, by which Node.js itself makes the socket read further. */
  #peek() {
    return this.#isFull ? null : this.#read(0);
  }

  /** Whole packets, and possibly the beginning of a further packet. Returns null if nothing may be read now. */
  #nextSlice(): Buffer | null {
    if (this.#isFull) {
      this.#isHeld = true;
      return null;
    }
    // An empty socket is read too, because it reports the end of its connection only when it is read.
    const isEmpty = this.#socket.readableLength === 0;
    const isConnected = this.#isConnected();
    if (!isEmpty && !isConnected && this.#scanner.packets > 0) return null;
    const needsRoom = isConnected && !isEmpty;
    if (!this.#scheduler.mayRead(needsRoom)) {
      this.#askForTurn(needsRoom);
      return null;
    }
    if (isEmpty) return this.#read();
    const before = this.#scanner.packets;
    const slice = this.#cut(isConnected ? SLICE_PACKETS : 1);
    const packets = this.#scanner.packets - before;
    this.#scheduler.spend(packets);
    // No packet ended in this slice, so aedes handles no packet, and would never read the rest.
    if (packets === 0 && this.#socket.readableLength > 0) this.#askForTurn(needsRoom);
    return slice;
  }

  #askForTurn(needsRoom: boolean) {
    this.#cancelWait ??= this.#scheduler.wait(this.#resume, needsRoom);
  }

  /**
   * Delays the end of a broken connection until its turn. When a network fails, thousands of connections break in one iteration of the
   * event loop. Closing one and handling its last will takes 0.1 ms. Node.js does not read from the socket after such an error.
   */
  #endInTurn() {
    const socket = this.#socket;
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (error) => {
      if (!isReadError(error) || socket.destroyed) return destroy(error);
      this.#scheduler.wait(() => {
        this.#scheduler.spend(1);
        destroy(error);
      }, false);
      return socket;
    };
  }

  #resume = () => {
    this.#cancelWait = null;
    this.#socket.emit('readable');
  };

  #cut(maxPackets: number): Buffer | null {
    const chunk = this.#nextChunk();
    if (!chunk) return null;
    const before = this.#scanner.packets;
    try {
      // A slice ends with a shortened packet, because the surplus bytes behind it are dropped.
      let end = this.#scanner.scan(chunk, this.#surplus > 0 ? 1 : maxPackets);
      this.#putBackFrom(chunk, end);
      if (this.#surplus > 0 && this.#scanner.packets > before) {
        this.#toDrop = this.#surplus;
        this.#surplus = 0;
      }
      end -= this.#scanner.rewind();
      this.#header =
        chunk.length - this.#putBack > end ? chunk.subarray(end, chunk.length - this.#putBack) : EMPTY;
      return end > 0 ? chunk.subarray(0, end) : null;
    } catch (error) {
      if (!(error instanceof PacketTooLarge)) throw error;
      return this.#shorten(chunk, error);
    }
  }

  /** Returns the packets before the large packet, and its new fixed header. Without shortening it destroys the socket. */
  #shorten(chunk: Buffer, { bytes, limit, from, to }: PacketTooLarge): Buffer | null {
    const firstByte = chunk[from] as number;
    if (!this.#shortens(firstByte, bytes)) {
      this.#onTooLarge(bytes);
      this.#socket.destroy();
      return null;
    }
    this.#scanner.skip(limit);
    this.#surplus = bytes - limit;
    this.#header = EMPTY;
    this.#putBackFrom(chunk, to);
    return Buffer.concat([chunk.subarray(0, from), Buffer.from([firstByte, ...lengthBytes(limit)])]);
  }

  #putBackFrom(chunk: Buffer, end: number) {
    this.#putBack = chunk.length - end;
    if (this.#putBack > 0) this.#socket.unshift(chunk.subarray(end));
  }

  #nextChunk(): Buffer | null {
    const chunk = this.#readChunk();
    this.#putBack = 0;
    if (!chunk) return null;
    if (this.#header.length > 0) return Buffer.concat([this.#header, chunk]);
    if (this.#toDrop === 0) return chunk;
    const dropped = Math.min(this.#toDrop, chunk.length);
    this.#toDrop -= dropped;
    return dropped < chunk.length ? chunk.subarray(dropped) : null;
  }

  /** Bytes that were put back are read by their exact length. So they stay one buffer, and are not copied to join later bytes. */
  #readChunk() {
    const { readableLength } = this.#socket;
    const size = this.#putBack || Math.min(readableLength, CHUNK_BYTES);
    return (size < readableLength ? this.#read(size) : this.#read()) as Buffer | null;
  }
}

const EMPTY = Buffer.alloc(0);

/** The length in a fixed header (MQTT 3.1.1, 2.2.3). */
function lengthBytes(length: number): number[] {
  const bytes = [];
  let rest = length;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return bytes;
}

const isReadError = (error: Error | undefined): boolean =>
  error !== undefined && (error as NodeJS.ErrnoException).syscall === 'read';

/** Limit for the length in a fixed header, with seven bits each (MQTT 3.1.1, section 2.2.3). */
const MAX_LENGTH_BYTES = 4;

/** Limit of the bytes after the fixed header. It is checked before they are buffered. `isFirst`: the first packet of the connection. */
export type PacketLimit = (firstByte: number, isFirst: boolean) => number;

/** Finds the ends of packets in a stream of bytes. It reads only their fixed headers. */
export class PacketScanner {
  #limitOf;
  /** Bytes until the next fixed header. */
  #toSkip = 0;
  /** Bytes of the fixed header that were read. */
  #header = 0;
  #length = 0;
  #limit = 0;
  #packets = 0;

  constructor(limitOf: PacketLimit) {
    this.#limitOf = limitOf;
  }

  get packets() {
    return this.#packets;
  }

  /** Returns the number of scanned bytes. The caller passes the other bytes again. @throws {PacketTooLarge} */
  scan(chunk: Uint8Array, maxPackets: number): number {
    const stopAt = this.#packets + maxPackets;
    let index = 0;
    while (index < chunk.length && this.#packets < stopAt) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, chunk.length - index);
        this.#toSkip -= skipped;
        index += skipped;
        if (this.#toSkip === 0) this.#packets++;
      } else this.#scanHeader(chunk[index] as number, ++index);
    }
    return index;
  }

  /** Resets an incomplete fixed header at the end of the chunk, and returns its bytes. The caller passes them again. */
  rewind(): number {
    const bytes = this.#header;
    this.#header = 0;
    this.#length = 0;
    return bytes;
  }

  skip(bytes: number) {
    this.rewind();
    this.#toSkip = bytes;
  }

  #scanHeader(byte: number, end: number) {
    if (this.#header++ === 0) {
      this.#limit = this.#limitOf(byte, this.#packets === 0);
      return;
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#header - 2);
    const goesOn = (byte & 0x80) > 0;
    if (goesOn && this.#header <= MAX_LENGTH_BYTES) return;
    // A length of more than four bytes is malformed. The packet ends here, so aedes gets it at once and closes the connection.
    if (goesOn) this.#length = 0;
    if (this.#length > this.#limit) {
      throw new PacketTooLarge(this.#length, { limit: this.#limit, from: end - this.#header, to: end });
    }
    this.#toSkip = this.#length;
    if (this.#length === 0) this.#packets++;
    this.#header = 0;
    this.#length = 0;
  }
}

export class PacketTooLarge extends Error {
  declare bytes: number;
  declare limit: number;
  declare from: number;
  declare to: number;

  /** Lengths do not include the fixed header. `from` and `to`: the header in the chunk, if it begins there. */
  constructor(bytes: number, { limit, from, to }: { limit: number; from: number; to: number }) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
    this.limit = limit;
    this.from = from;
    this.to = to;
  }
}
