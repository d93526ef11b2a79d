import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Frames of the native protocol, version 4, as bytes (native_protocol_v4.spec): what the native client sends.
 *
 *     +---------+-------+--------+--------+--------+------+
 *     | version | flags | stream | opcode | length | body |
 *     | 1 byte  | 1     | 2      | 1      | 4      |      |
 *     +---------+-------+--------+--------+--------+------+
 */
const HEADER_BYTES = 9;
const REQUEST_V4 = 0x04;

export const OPCODES = { error: 0x00, startup: 0x01, result: 0x08, prepare: 0x09 };
const EXECUTE = 0x0a;
const BATCH = 0x0d;

const LOCAL_QUORUM = 0x0006;
const UNLOGGED = 1;
const PREPARED = 1;
const WITH_VALUES = 0x01;

/** @param {number} opcode @param {Buffer[]} body @returns {Buffer} stream 0 */
function frame(opcode, ...body) {
  const content = Buffer.concat(body);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(REQUEST_V4, 0);
  header.writeUInt8(opcode, 4);
  header.writeUInt32BE(content.length, 5);
  return Buffer.concat([header, content]);
}

/** @param {number} number @returns {Buffer} */
function short(number) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number);
  return bytes;
}

/** @param {number} number @returns {Buffer} */
function int(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(number);
  return bytes;
}

/** @param {string} text @returns {Buffer} a [long string] */
const longString = (text) => Buffer.concat([int(Buffer.byteLength(text)), Buffer.from(text)]);

/** @param {string} text @returns {Buffer} a [string] */
const string = (text) => Buffer.concat([short(Buffer.byteLength(text)), Buffer.from(text)]);

const startupFrame = () => frame(OPCODES.startup, short(1), string('CQL_VERSION'), string('3.0.0'));

/** @param {string} cql */
const prepareFrame = (cql) => frame(OPCODES.prepare, longString(cql));

/** @param {Buffer[]} values */
const valuesOf = (values) =>
  Buffer.concat([short(values.length), ...values.flatMap((value) => [int(value.length), value])]);

/**
 * Where a value stands among the values of a statement: behind their number, and each behind its length.
 *
 * @param {Buffer[]} values
 * @param {number} index
 */
export const placeOf = (values, index) =>
  values.slice(0, index).reduce((at, value) => at + 4 + value.length, 2 + 4);

/**
 * A prepared statement in a BATCH.
 *
 * @param {Buffer} id
 * @param {Buffer[]} values
 * @returns {{ bytes: Buffer, valuesAt: number }}
 */
export function batchEntry(id, values) {
  const head = Buffer.concat([Buffer.from([PREPARED]), short(id.length), id]);
  return { bytes: Buffer.concat([head, valuesOf(values)]), valuesAt: head.length };
}

const BATCH_HEAD_BYTES = 3;

/** @param {Buffer[]} entries */
export const batchFrame = (entries) =>
  frame(
    BATCH,
    Buffer.from([UNLOGGED]),
    short(entries.length),
    ...entries,
    short(LOCAL_QUORUM),
    Buffer.from([0]),
  );

/**
 * Rows of one prepared statement, in the frame that a driver would send: one alone as EXECUTE, several as BATCH.
 *
 * @param {Buffer} id
 * @param {Buffer[][]} rows the values of each
 * @returns {{ bytes: Buffer, valuesAt: number[] }} `valuesAt`: where those of each row begin
 */
export function rowsFrame(id, rows) {
  const [only] = rows;
  if (rows.length === 1 && only) {
    const head = Buffer.concat([short(id.length), id, short(LOCAL_QUORUM), Buffer.from([WITH_VALUES])]);
    return { bytes: frame(EXECUTE, head, valuesOf(only)), valuesAt: [HEADER_BYTES + head.length] };
  }
  const entries = rows.map((values) => batchEntry(id, values));
  let at = HEADER_BYTES + BATCH_HEAD_BYTES;
  const valuesAt = entries.map((entry) => {
    const place = at + entry.valuesAt;
    at += entry.bytes.length;
    return place;
  });
  return { bytes: batchFrame(entries.map(({ bytes }) => bytes)), valuesAt };
}

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
