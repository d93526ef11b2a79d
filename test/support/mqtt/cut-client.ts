import { connect, type Socket } from 'node:net';
import type { Packet } from 'mqtt-packet';
import mqttPacket from 'mqtt-packet';
import { until } from '../until.ts';
import { connectBytes } from './packets.ts';

/** The packets after which a connection is cut. `publish` and `pubrel`: sent, and no answer is awaited. */
export type Cut = 'publish' | 'answer' | 'pubrel' | 'none';

/**
 * A client of MQTT 3.1.1 that follows each clause of 4.3.2 and 4.3.3, and whose connection is cut where the test wants it. After each cut it
 * connects again with the same client id and continues.
 */
export class CutClient {
  #port;
  #clientId;
  #socket: Socket | null = null;
  /** of this connection, since they were last taken */
  #received: Packet[] = [];

  constructor({ port, clientId }: { port: number; clientId: string }) {
    this.#port = port;
    this.#clientId = clientId;
  }

  /**
   * Sends one message until it is acknowledged.
   * @param cuts one for each connection that is cut; then the connection stays
   */
  async send(message: { topic: string; payload: string; qos: 1 | 2; messageId: number }, cuts: Cut[]) {
    let state = 'publish';
    let dup = false;
    const left = [...cuts];
    while (state !== 'done') {
      const cut = left.shift() ?? 'none';
      await this.#open();
      if (state === 'publish') {
        this.#write({
          cmd: 'publish',
          ...message,
          payload: Buffer.from(message.payload),
          dup,
          retain: false,
        });
        dup = true;
        if (cut === 'publish') {
          this.cut();
          continue;
        }
        await this.#packet(message.qos === 2 ? 'pubrec' : 'puback', message.messageId);
        state = message.qos === 2 ? 'pubrel' : 'done';
        if (cut === 'answer') this.cut();
        if (cut === 'answer' || state === 'done') continue;
      }
      this.#write({ cmd: 'pubrel', messageId: message.messageId });
      if (cut === 'pubrel') {
        this.cut();
        continue;
      }
      await this.#packet('pubcomp', message.messageId);
      state = 'done';
    }
  }

  cut() {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #open() {
    if (this.#socket) return;
    const socket = connect({ port: this.#port, host: '127.0.0.1' });
    this.#socket = socket;
    this.#received = [];
    const parser = mqttPacket.parser({ protocolVersion: 4 });
    parser.on('packet', (packet) => this.#received.push(packet));
    socket.on('data', (chunk) => void parser.parse(chunk));
    socket.on('error', () => {});
    socket.write(connectBytes({ clientId: this.#clientId, clean: false }));
    await this.#packet('connack');
  }

  #write(packet: Packet) {
    this.#socket?.write(mqttPacket.generate(packet));
  }

  async #packet(cmd: string, messageId?: number) {
    const isWanted = (packet: Packet) =>
      packet.cmd === cmd && (messageId === undefined || packet.messageId === messageId);
    await until(() => this.#received.some(isWanted), { what: cmd });
    this.#received = this.#received.filter((packet) => !isWanted(packet));
  }
}
