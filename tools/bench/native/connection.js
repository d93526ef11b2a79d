import { once } from 'node:events';
import { connect } from 'node:net';
import { HEADER_BYTES, OPCODES, prepareFrame, startupFrame } from './frames.js';

/** Streams of a connection in protocol v4: 2^15. */
const STREAMS = 2 ** 15;

/**
 * One connection to one node, pipelined: a frame goes out as it is, and its answer is looked at for its opcode alone.
 *
 * @param {string} contactPoint host:port
 */
export async function openConnection(contactPoint) {
  const [host, port] = contactPoint.split(':');
  const socket = connect({ host, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  /** @type {Array<((opcode: number, body: Buffer) => void) | undefined>} */
  const waiting = new Array(STREAMS);
  let next = 0;
  let rest = Buffer.alloc(0);
  /** @type {Buffer[]} */
  let outgoing = [];

  socket.on('data', (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 5);
      if (end > bytes.length) break;
      const stream = bytes.readUInt16BE(at + 2);
      const answered = waiting[stream];
      waiting[stream] = undefined;
      answered?.(/** @type {number} */ (bytes[at + 4]), bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    rest = bytes.subarray(at);
  });

  function flush() {
    const frames = outgoing;
    outgoing = [];
    socket.write(frames.length === 1 ? /** @type {Buffer} */ (frames[0]) : Buffer.concat(frames));
  }

  /**
   * @param {Buffer} bytes of a frame; the connection's from now on
   * @param {(opcode: number, body: Buffer) => void} answered
   */
  function send(bytes, answered) {
    while (waiting[next]) next = (next + 1) % STREAMS;
    waiting[next] = answered;
    bytes.writeUInt16BE(next, 2);
    next = (next + 1) % STREAMS;
    // All frames of one iteration of the event loop leave in one write.
    if (outgoing.push(bytes) === 1) setImmediate(flush);
  }

  /** @param {Buffer} bytes @returns {Promise<Buffer>} body of the answer */
  const ask = (bytes) =>
    new Promise((resolve, reject) =>
      send(bytes, (opcode, body) =>
        opcode === OPCODES.error ? reject(new Error(body.toString('utf8', 6))) : resolve(body),
      ),
    );

  await ask(startupFrame());
  return {
    send,
    /** @param {string} cql @returns {Promise<Buffer>} the statement's id */
    async prepare(cql) {
      const body = await ask(prepareFrame(cql));
      // [int] kind, then the id as [short bytes] (section 4.2.5.4).
      return Buffer.from(body.subarray(6, 6 + body.readUInt16BE(4)));
    },
    close: () => socket.destroy(),
  };
}

/** @typedef {Awaited<ReturnType<typeof openConnection>>} Connection */
