import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from './until.js';

/**
 * TCP connections of an unauthenticated client, from any loopback address.
 *
 * @param {(cleanUp: () => void) => void} afterwards
 */
export function createTcpClients(afterwards) {
  /** @param {number} port @param {string} [from] source address */
  async function open(port, from = '127.0.0.1') {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    // It may be closed under us: its `close` is what is looked at.
    socket.on('error', () => {});
    afterwards(() => void socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
    });
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    return {
      socket,
      /** @returns {string} what was answered, a character a byte */
      received: () => received,
      closed: () => socket.closed,
      /** Writes a byte at a time until it is closed. @param {string | Buffer} bytes @param {number} everyMs */
      async drip(bytes, everyMs) {
        let at = 0;
        const timer = setInterval(() => {
          if (at < bytes.length) socket.write(Buffer.from(bytes).subarray(at, ++at));
        }, everyMs);
        afterwards(() => clearInterval(timer));
        await until(() => socket.closed);
        clearInterval(timer);
        return at;
      },
    };
  }

  /** @param {number} count @param {number} port @param {string} [from] */
  async function flood(count, port, from) {
    const all = [];
    // One after the other, so that the order in which they came is known.
    for (let at = 0; at < count; at++) all.push(await open(port, from));
    return all;
  }

  return { open, flood };
}

/** @typedef {Awaited<ReturnType<ReturnType<typeof createTcpClients>['open']>>} TcpClient */
