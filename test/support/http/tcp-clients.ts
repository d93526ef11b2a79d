import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../until.js';

/**
 * Opens TCP connections of an unauthenticated client, from any loopback address.
 *
 * @param {(cleanUp: () => void) => void} afterwards
 */
export function createTcpClients(afterwards) {
  /** @param {number} port @param {string} [from] source address */
  async function open(port, from = '127.0.0.1') {
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
      /** @returns {string} the answer so far, one character for each byte */
      received: () => received,
      closed: () => socket.closed,
      /** Writes one byte at a time until the connection is closed. @param {string | Buffer} bytes @param {number} everyMs */
      async drip(bytes, everyMs) {
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

  /** @param {number} count @param {number} port @param {string} [from] */
  async function flood(count, port, from) {
    const all = [];
    // The clients connect one after the other, so that their order is known.
    for (let i = 0; i < count; i++) all.push(await open(port, from));
    return all;
  }

  return { open, flood };
}

/** @typedef {Awaited<ReturnType<ReturnType<typeof createTcpClients>['open']>>} TcpClient */
