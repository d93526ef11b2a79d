import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

// A CQL v4 frame of 9 bytes: version, flags, stream (2), opcode, length (4). OPTIONS needs no connection set-up.
const OPTIONS = Buffer.from([0x04, 0, 0, 0, 0x05, 0, 0, 0, 0]);
const RESPONSE_V4 = 0x84;
const SUPPORTED = 0x06;

/** `ca`: path of the authority's certificate. `pem`: path of the server's own key and certificate, which it also accepts as a client's. */
type Target = { host: string; port: number; ca?: string; pem?: string };

/** Sends one OPTIONS frame, and waits for SUPPORTED. @returns false: refused, another answer, or none in time */
export function answersCql({
  host,
  port,
  ca,
  pem,
  timeoutMs = 2000,
}: Target & { timeoutMs?: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const own = pem && readFileSync(pem);
    const socket = ca
      ? connectTls({ host, port, ca: readFileSync(ca), key: own, cert: own })
      : connect({ host, port });
    let received = Buffer.alloc(0);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once(ca ? 'secureConnect' : 'connect', () => socket.write(OPTIONS));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length >= 9) settle(received[0] === RESPONSE_V4 && received[4] === SUPPORTED);
    });
  });
}
