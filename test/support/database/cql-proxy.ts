import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../http/listening.ts';
import { createBodyReader, createFrameReader, type Frame } from './cql-frames.ts';

const QUERY = 0x07;
const RESULT = 0x08;
const PREPARE = 0x09;
const EXECUTE = 0x0a;
const BATCH = 0x0d;
const PREPARED = 4;
const ONE_TABLE = 0x01;

export interface CqlRequest {
  /** `query`: sent as text, not prepared */
  kind: 'query' | 'execute' | 'batch';
  /** 6 is LOCAL_QUORUM */
  consistency: number;
  /** of a batch */
  logged: boolean;
  /** `partition`: its key in hex */
  statements: Array<{ cql: string; table: string; partition: string }>;
}

type Prepared = { cql: string; table: string; keyIndexes: number[] };

/**
 * Starts a proxy between the driver and the database. It records the requests, and can hold responses.
 * @param contactPoint of the database
 */
export async function startCqlProxy(contactPoint: string) {
  const [host = '', port = ''] = contactPoint.split(':');
  const requests: CqlRequest[] = [];
  /** by id, in hex */
  const prepared: Map<string, Prepared> = new Map();
  const sockets: Set<Socket> = new Set();
  let holding: ((request: CqlRequest) => boolean) | null = null;
  let held: Array<() => void> = [];

  function relay(driver: Socket) {
    const database = connect(Number(port), host);
    /** pending requests by stream: a request, or the text to prepare */
    const pending: Map<number, CqlRequest | string> = new Map();
    for (const [socket, peer] of [
      [driver, database],
      [database, driver],
    ]) {
      sockets.add(socket as Socket);
      socket?.on('error', () => peer?.destroy());
      socket?.on('close', () => {
        sockets.delete(socket as Socket);
        peer?.destroy();
      });
    }
    const fromDriver = createFrameReader();
    driver.on('data', (chunk) => {
      for (const frame of fromDriver(chunk)) {
        if (frame.opcode === PREPARE) pending.set(frame.stream, createBodyReader(frame.body).longString());
        const request = readRequest(frame, prepared);
        if (request) {
          requests.push(request);
          pending.set(frame.stream, request);
        }
      }
      database.write(chunk);
    });
    const fromDatabase = createFrameReader();
    database.on('data', (chunk) => {
      for (const { opcode, stream, body, bytes } of fromDatabase(chunk)) {
        const question = pending.get(stream);
        pending.delete(stream);
        const pass = () => driver.write(bytes);
        if (typeof question === 'string') {
          if (opcode === RESULT) remember(question, body, prepared);
          pass();
        } else if (question && holding?.(question)) held.push(pass);
        else pass();
      }
    });
  }

  const server = createServer(relay);
  const ownPort = await listening(server);

  return {
    contactPoint: `127.0.0.1:${ownPort}`,
    requests,
    connections: () => sockets.size / 2,
    /** Holds the responses to these requests, which the database still executes. */
    hold(which: (request: CqlRequest) => boolean) {
      holding = which;
    },
    /** Number of responses that are held. */
    held: () => held.length,
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

export type CqlProxy = Awaited<ReturnType<typeof startCqlProxy>>;

function readRequest({ opcode, body }: Frame, prepared: Map<string, Prepared>): CqlRequest | null {
  const read = createBodyReader(body);
  const statement = (id: string, values: Array<Buffer | null>) => {
    const { cql, table, keyIndexes } = prepared.get(id) as Prepared;
    return { cql, table, partition: keyIndexes.map((index) => values[index]?.toString('hex')).join(':') };
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

/** Remembers a prepared statement from the response of the database. */
function remember(cql: string, body: Buffer, prepared: Map<string, Prepared>) {
  const read = createBodyReader(body);
  if (read.int() !== PREPARED) return;
  const id = read.shortBytes().toString('hex');
  const flags = read.int();
  read.int(); // The number of its values.
  const keyIndexes = Array.from({ length: read.int() }, () => read.short());
  const table = flags & ONE_TABLE ? `${read.string()}.${read.string()}` : '';
  prepared.set(id, { cql, table, keyIndexes });
}
