import { once } from 'node:events';
import { connect } from 'node:net';
import { generate } from 'mqtt-packet';

/** Length in bytes of CONNACK and PUBACK. A broker sends nothing else to a client that only publishes (MQTT 3.1.1, 3.2 and 3.4). */
const ANSWER_BYTES = 4;
const CONNACK = 0x20;
const PUBACK = 0x40;

/** MQTT 3.1.1. It publishes and counts acknowledgements, and does nothing else. @throws {Error} the broker refuses the connection */
export async function openConnection({
  url,
  clientId,
  onAcknowledged,
  onDrain,
  onBroken,
}: {
  /** mqtt://host:port */
  url: string;
  clientId: string;
  /** PUBACKs that arrived together */
  onAcknowledged: (count: number) => void;
  /** the socket accepts more data after `send` returned false */
  onDrain: () => void;
  onBroken: (error: Error) => void;
}) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  socket.write(generate({ cmd: 'connect', clientId, protocolVersion: 4, clean: true, keepalive: 0 }));
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const [connack] = (await once(socket, 'data', { signal: gone.signal })) as [Buffer];
  if (connack[0] !== CONNACK || connack[3] !== 0) {
    socket.destroy();
    throw new Error(`the broker answers CONNECT with ${connack.toString('hex')}`);
  }
  let ending = false;
  let cut = 0;
  socket.on('data', (chunk) => {
    const first = chunk[(ANSWER_BYTES - cut) % ANSWER_BYTES];
    if (first !== undefined && first !== PUBACK) {
      socket.destroy(new Error(`the broker sends ${first.toString(16)} where a PUBACK belongs`));
      return;
    }
    const whole = cut + chunk.length;
    cut = whole % ANSWER_BYTES;
    onAcknowledged((whole - cut) / ANSWER_BYTES);
  });
  socket.on('drain', onDrain);
  socket.on('error', (error) => ending || onBroken(error));
  socket.on('close', () => ending || onBroken(new Error('the broker closed the connection')));

  return {
    /** @returns false: the caller must wait for `onDrain` before it sends more */
    send: (packets: Buffer): boolean => socket.write(packets),
    close() {
      ending = true;
      socket.end(generate({ cmd: 'disconnect' }));
    },
  };
}

export type Connection = Awaited<ReturnType<typeof openConnection>>;
