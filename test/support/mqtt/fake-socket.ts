import { Duplex } from 'node:stream';

/** libuv reads this many bytes from a socket at once. */
const SYSTEM_READ = 65_536;

/**
 * The server side of a connection: a stream that takes bytes from its device as `net.Socket` does. With a real socket the system would
 * choose the chunks.
 */
export class FakeSocket extends Duplex {
  /** Bytes that arrived, and that Node.js has not read. */
  #arrived = Buffer.alloc(0);
  #isReading = false;
  written: Buffer[] = [];

  setNoDelay() {}

  arrive(bytes: Buffer) {
    this.#arrived = Buffer.concat([this.#arrived, bytes]);
    this.#readOn();
  }

  /** Bytes that the process has not read. */
  get unread() {
    return this.#arrived.length + this.readableLength;
  }

  _read() {
    this.#isReading = true;
    setImmediate(() => this.#readOn());
  }

  _write(chunk: Buffer, _encoding: string, done: () => void) {
    this.written.push(chunk);
    done();
  }

  #readOn() {
    while (this.#isReading && this.#arrived.length > 0 && !this.destroyed) {
      const chunk = this.#arrived.subarray(0, SYSTEM_READ);
      this.#arrived = this.#arrived.subarray(SYSTEM_READ);
      this.#isReading = this.push(chunk);
    }
  }
}
