import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createBodyReader, createFrameReader } from './cql-frames.js';

/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { Frame } from './cql-frames.js' */

const QUERY = 0x07;
const RESULT = 0x08;
const PREPARE = 0x09;
const EXECUTE = 0x0a;
const BATCH = 0x0d;
const PREPARED = 4;
const ONE_TABLE = 0x01;

/**
 * A request as the database gets it.
 *
 * @typedef {object} WireRequest
 * @property {'query' | 'execute' | 'batch'} kind `query`: sent as text, not prepared
 * @property {number} consistency 6 is LOCAL_QUORUM
 * @property {boolean} logged of a batch
 * @property {Array<{ cql: string, table: string, partition: string }>} statements `partition`: its key in hex
 */

/** @typedef {{ cql: string, table: string, keyAt: number[] }} Prepared */

/**
 * A listener between the driver and the database that reads along, and can keep answers back.
 *
 * @param {string} contactPoint of the database
 */
export async function startCqlWire(contactPoint) {
  const [host = '', port = ''] = contactPoint.split(':');
  /** @type {WireRequest[]} */
  const requests = [];
  /** @type {Map<string, Prepared>} by id, in hex */
  const prepared = new Map();
  /** @type {Set<Socket>} */
  const sockets = new Set();
  /** @type {((request: WireRequest) => boolean) | null} */
  let holding = null;
  /** @type {Array<() => void>} */
  let held = [];

  /** @param {Socket} driver */
  function relay(driver) {
    const database = connect(Number(port), host);
    /** @type {Map<number, WireRequest | string>} what is asked, by stream: a request, or the text to prepare */
    const asked = new Map();
    for (const [one, other] of [
      [driver, database],
      [database, driver],
    ]) {
      sockets.add(/** @type {Socket} */ (one));
      one?.on('error', () => other?.destroy());
      one?.on('close', () => {
        sockets.delete(/** @type {Socket} */ (one));
        other?.destroy();
      });
    }
    const fromDriver = createFrameReader();
    driver.on('data', (chunk) => {
      for (const frame of fromDriver(chunk)) {
        if (frame.opcode === PREPARE) asked.set(frame.stream, createBodyReader(frame.body).longString());
        const request = readRequest(frame, prepared);
        if (request) {
          requests.push(request);
          asked.set(frame.stream, request);
        }
      }
      database.write(chunk);
    });
    const fromDatabase = createFrameReader();
    database.on('data', (chunk) => {
      for (const { opcode, stream, body, bytes } of fromDatabase(chunk)) {
        const question = asked.get(stream);
        asked.delete(stream);
        const pass = () => driver.write(bytes);
        if (typeof question === 'string') {
          if (opcode === RESULT) remember(question, body, prepared);
          pass();
        } else if (question && holding?.(question)) held.push(pass);
        else pass();
      }
    });
  }

  const server = createServer(relay).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {AddressInfo} */ (server.address());

  return {
    contactPoint: `127.0.0.1:${address.port}`,
    /** All requests so far, in order. */
    requests,
    /** How many connections the driver has open. */
    connections: () => sockets.size / 2,
    /** Answers to these requests are kept back, though the database has them. @param {(request: WireRequest) => boolean} which */
    hold(which) {
      holding = which;
    },
    /** How many answers are kept back. */
    held: () => held.length,
    /** Gives what was kept back. */
    release() {
      holding = null;
      for (const pass of held) pass();
      held = [];
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startCqlWire>>} CqlWire */

/**
 * @param {Frame} frame
 * @param {Map<string, Prepared>} prepared
 * @returns {WireRequest | null} null: no request for data
 */
function readRequest({ opcode, body }, prepared) {
  const read = createBodyReader(body);
  /** @param {string} id @param {Array<Buffer | null>} values */
  const statement = (id, values) => {
    const { cql, table, keyAt } = /** @type {Prepared} */ (prepared.get(id));
    return { cql, table, partition: keyAt.map((at) => values[at]?.toString('hex')).join(':') };
  };
  const values = () => Array.from({ length: read.short() }, () => read.value());
  if (opcode === QUERY) {
    const cql = read.longString();
    return {
      kind: 'query',
      consistency: read.short(),
      logged: false,
      statements: [{ cql, table: '', partition: '' }],
    };
  }
  if (opcode === EXECUTE) {
    const id = read.shortBytes().toString('hex');
    const consistency = read.short();
    const hasValues = read.byte() & 0x01;
    return {
      kind: 'execute',
      consistency,
      logged: false,
      statements: [statement(id, hasValues ? values() : [])],
    };
  }
  if (opcode === BATCH) {
    const logged = read.byte() === 0;
    const statements = Array.from({ length: read.short() }, () => {
      const isPrepared = read.byte() === 1;
      const id = isPrepared ? read.shortBytes().toString('hex') : '';
      const cql = isPrepared ? '' : read.longString();
      const bound = values();
      return isPrepared ? statement(id, bound) : { cql, table: '', partition: '' };
    });
    return { kind: 'batch', logged, statements, consistency: read.short() };
  }
  return null;
}

/** Keeps what the database says of a prepared statement. @param {string} cql @param {Buffer} body @param {Map<string, Prepared>} prepared */
function remember(cql, body, prepared) {
  const read = createBodyReader(body);
  if (read.int() !== PREPARED) return;
  const id = read.shortBytes().toString('hex');
  const flags = read.int();
  read.int(); // How many values it takes.
  const keyAt = Array.from({ length: read.int() }, () => read.short());
  const table = flags & ONE_TABLE ? `${read.string()}.${read.string()}` : '';
  prepared.set(id, { cql, table, keyAt });
}
