import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../until.ts';

/** Opens TCP connections of an unauthenticated client, from any loopback address. */
export function createTcpClients(afterwards: (cleanUp: () => void) => void) {
  /** @param from source address */
  async function open(port: number, from: string = '127.0.0.1') {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    // The server may close it. Tests look at its `close`.
    socket.on('error', () => {});
    afterwards(() => void socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
    });
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    return {
      socket,
      /** @returns the answer so far, one character for each byte */
      received: (): string => received,
      closed: () => socket.closed,
      async drip(bytes: string | Buffer, everyMs: number) {
        let sent = 0;
        const timer = setInterval(() => {
          if (sent < bytes.length) socket.write(Buffer.from(bytes).subarray(sent, ++sent));
        }, everyMs);
        afterwards(() => clearInterval(timer));
        await until(() => socket.closed);
        clearInterval(timer);
        return sent;
      },
    };
  }

  async function flood(count: number, port: number, from?: string) {
    const all = [];
    // The clients connect one after the other, so that their order is known.
    for (let i = 0; i < count; i++) all.push(await open(port, from));
    return all;
  }

  return { open, flood };
}

export type TcpClient = Awaited<ReturnType<ReturnType<typeof createTcpClients>['open']>>;
