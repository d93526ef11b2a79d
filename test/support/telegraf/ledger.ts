import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listening } from '../http/listening.ts';
import { readLinesSlowly } from '../payloads/line-reference.ts';

/** Values of one sensor by their time in epoch ms. `acknowledged` is the greatest one with a 204. */
type Times = Map<number, { sent: Set<number>; acknowledged: number | null }>;

/**
 * A proxy between Telegraf and the API, which keeps what was sent and what was answered with 204. The proxy notes an answer before it passes
 * it on. It reads line protocol by the second reader of the tests, and names devices and sensors by rules of its own.
 */
export class LedgerProxy {
  #port;
  #server = createServer((req, res) => void this.#pass(req, res));
  /** By device and sensor. */
  values: Map<string, Times> = new Map();
  /** Answers by status; 0: no answer. */
  answers: Map<number, number> = new Map();
  /** Values that were answered with 204, with repetitions. */
  acknowledged = 0;

  /** @param port of the API */
  constructor(port: number) {
    this.#port = port;
  }

  /** @returns its URL */
  async start(): Promise<string> {
    return `http://127.0.0.1:${await listening(this.#server)}`;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(req: IncomingMessage, res: ServerResponse) {
    try {
      const body = await buffer(req);
      const points = valuesOf(gunzipSync(body).toString());
      for (const point of points) this.#timeOf(point).sent.add(point.value);
      const { status, text } = await this.#forward(req, body);
      this.#count(status);
      if (status === 204) {
        for (const point of points) {
          const time = this.#timeOf(point);
          time.acknowledged = Math.max(time.acknowledged ?? Number.NEGATIVE_INFINITY, point.value);
        }
        this.acknowledged += points.length;
      }
      res.writeHead(status, { 'retry-after': '1' }).end(text);
    } catch {
      // The API or Telegraf has closed the connection.
      this.#count(0);
      res.destroy();
    }
  }

  #count(status: number) {
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }

  #timeOf({ sensor, ts }: { sensor: string; ts: number }) {
    const times = this.values.get(sensor) ?? new Map();
    this.values.set(sensor, times);
    const time = times.get(ts) ?? { sent: new Set(), acknowledged: null };
    times.set(ts, time);
    return time;
  }

  #forward(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#port, method, path: url, headers },
        async (answer) => resolve({ status: Number(answer.statusCode), text: await text(answer) }),
      );
      sent.once('error', reject);
      sent.end(body);
    });
  }
}

/** @returns `sensor`: device and sensor */
function valuesOf(text: string): Array<{ sensor: string; ts: number; value: number }> {
  const { points, bad } = readLinesSlowly(text);
  if (bad.length > 0) throw new Error(`Telegraf wrote lines that are not valid: ${bad}`);
  return points.flatMap(({ measurement, tags, fields, time }) => {
    const { device } = Object.fromEntries(tags);
    if (tags.length !== 1 || !device) throw new Error(`Telegraf wrote other tags than device: ${tags}`);
    return fields.flatMap(([field, value]) =>
      value === null
        ? []
        : [{ sensor: `${device}/${measurement}.${field}`, ts: Number(BigInt(time) / 1_000_000n), value }],
    );
  });
}
