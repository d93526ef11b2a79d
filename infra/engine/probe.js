import { connect } from 'node:net';

// A CQL v4 frame of 9 bytes: version, flags, stream (2), opcode, length (4). OPTIONS needs no connection set-up.
const OPTIONS = Buffer.from([0x04, 0, 0, 0, 0x05, 0, 0, 0, 0]);
const RESPONSE_V4 = 0x84;
const SUPPORTED = 0x06;

/**
 * Whether a CQL server answers: sends one OPTIONS frame and waits for SUPPORTED.
 *
 * @param {{ host: string, port: number, timeoutMs?: number }} target
 * @returns {Promise<boolean>} false on any refusal, other answer or silence
 */
export function answersCql({ host, port, timeoutMs = 2000 }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let received = Buffer.alloc(0);
    const settle = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('connect', () => socket.write(OPTIONS));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length >= 9) settle(received[0] === RESPONSE_V4 && received[4] === SUPPORTED);
    });
  });
}
