import { connect } from 'node:net';

// The constants of CQL native protocol v4 (sections 2 to 4) that the shortest exchange with an answer to a statement needs.
const OPCODE = { startup: 0x01, ready: 0x02, query: 0x07, result: 0x08 };
const HEADER_BYTES = 9;
const CONSISTENCY = { ALL: 5, LOCAL_QUORUM: 6 };
const TIMEOUT_MS = 5000;

/** Shows the state of a cluster without a driver. @returns false: refused, an error, or no answer in time */
export function succeeds(
  cql: string,
  { contactPoint, consistency }: { contactPoint: string; consistency: keyof typeof CONSISTENCY },
): Promise<boolean> {
  const [host, port] = contactPoint.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    let received = Buffer.alloc(0);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(TIMEOUT_MS, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('connect', () => socket.write(startup()));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < HEADER_BYTES || received.length < HEADER_BYTES + received.readInt32BE(5)) return;
      const opcode = received[4];
      received = received.subarray(HEADER_BYTES + received.readInt32BE(5));
      if (opcode === OPCODE.ready) socket.write(query(cql, CONSISTENCY[consistency]));
      else settle(opcode === OPCODE.result);
    });
  });
}

function frame(opcode: number, body: Buffer) {
  const header = Buffer.from([0x04, 0, 0, 0, opcode, 0, 0, 0, 0]);
  header.writeInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
}

function shortString(text: string) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

const startup = () =>
  frame(
    OPCODE.startup,
    Buffer.concat([Buffer.from([0, 1]), shortString('CQL_VERSION'), shortString('3.0.0')]),
  );

function query(cql: string, consistency: number) {
  const text = Buffer.from(cql);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length);
  // The last byte holds the flags of the query. None is set.
  return frame(OPCODE.query, Buffer.concat([length, text, Buffer.from([0, consistency, 0])]));
}
