import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

// The constants of CQL native protocol v4 (sections 2 to 4) that the shortest exchange with an answer needs.
const OPCODE = { startup: 0x01, ready: 0x02, options: 0x05, supported: 0x06, query: 0x07, result: 0x08 };
const REQUEST_V4 = 0x04;
const RESPONSE_V4 = 0x84;
const HEADER_BYTES = 9;
const CONSISTENCY = { ALL: 5, LOCAL_QUORUM: 6 };
const TIMEOUT_MS = 5000;

/** `ca`: path of the authority's certificate. `pem`: path of the server's own key and certificate, which it also accepts as a client's. */
type Target = { host: string; port: number; ca?: string; pem?: string };

/** OPTIONS needs no connection set-up. @returns false: refused, another answer, or none in time */
export function answersCql({
  host,
  port,
  ca,
  pem,
  timeoutMs = 2000,
}: Target & { timeoutMs?: number }): Promise<boolean> {
  const own = pem && readFileSync(pem);
  const socket = ca
    ? connectTls({ host, port, ca: readFileSync(ca), key: own, cert: own })
    : connect({ host, port });
  const first = frame(OPCODE.options, Buffer.alloc(0));
  return exchange(socket, ca ? 'secureConnect' : 'connect', first, timeoutMs, isSupported);
}

const isSupported = (opcode: number) => opcode === OPCODE.supported;

/** Shows the state of a cluster without a driver. @returns false: refused, an error, or no answer in time */
export function succeeds(
  cql: string,
  { contactPoint, consistency }: { contactPoint: string; consistency: keyof typeof CONSISTENCY },
): Promise<boolean> {
  const [host, port] = contactPoint.split(':');
  const version = [Buffer.from([0, 1]), shortString('CQL_VERSION'), shortString('3.0.0')];
  const startup = frame(OPCODE.startup, Buffer.concat(version));
  return exchange(connect({ host, port: Number(port) }), 'connect', startup, TIMEOUT_MS, (opcode) =>
    opcode === OPCODE.ready ? query(cql, CONSISTENCY[consistency]) : opcode === OPCODE.result,
  );
}

/** @param next returns the next frame, or the result */
function exchange(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  first: Buffer,
  timeoutMs: number,
  next: (opcode: number) => Buffer | boolean,
): Promise<boolean> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once(event, () => socket.write(first));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received[0] !== RESPONSE_V4) return settle(false);
      if (received.length < HEADER_BYTES || received.length < HEADER_BYTES + received.readInt32BE(5)) return;
      const answer = next(Number(received[4]));
      received = received.subarray(HEADER_BYTES + received.readInt32BE(5));
      if (typeof answer === 'boolean') settle(answer);
      else socket.write(answer);
    });
  });
}

function frame(opcode: number, body: Buffer) {
  const header = Buffer.from([REQUEST_V4, 0, 0, 0, opcode, 0, 0, 0, 0]);
  header.writeInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
}

function shortString(text: string) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function query(cql: string, consistency: number) {
  const text = Buffer.from(cql);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length);
  // The last byte holds the flags of the query. None is set.
  return frame(OPCODE.query, Buffer.concat([length, text, Buffer.from([0, consistency, 0])]));
}
