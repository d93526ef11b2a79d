import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { MillraceError } from '../../../common/errors.ts';
import { Latencies as Histogram } from '../../../simulator/meter.ts';
import type { Latencies } from '../load/open-loop.ts';

const LINE_FEED = 10;

/** Keeps its connections open, as a browser does. */
export function createHttpReader(url: string) {
  const agent = new Agent({ keepAlive: true });

  /** @throws {MillraceError} `failed`, with the text of the answer, if its status is not 200 */
  async function open(path: string, accept: string): Promise<IncomingMessage> {
    const sent = request(new URL(path, url), { agent, headers: { accept } }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    if (answer.statusCode === 200) return answer;
    throw new MillraceError('failed', `${path} answers ${answer.statusCode}: ${await text(answer)}`);
  }

  return {
    /** @template T the answer, as the API describes it */
    json: async <T>(path: string): Promise<T> => (await json(await open(path, 'application/json'))) as T,

    /** Reads the answer as a stream. @returns number of lines */
    async lines(path: string): Promise<number> {
      let lines = 0;
      for await (const chunk of await open(path, 'application/x-ndjson')) {
        for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines++;
      }
      return lines;
    },

    close: () => agent.destroy(),
  };
}

export type Read = Latencies & { items: number };

/** @param read returns the number of items @param forMs at least one read is made */
export async function readRepeatedly(read: () => Promise<number>, forMs: number): Promise<Read> {
  const latencies = new Histogram();
  const end = performance.now() + forMs;
  let items = 0;
  do {
    const began = performance.now();
    items = await read();
    latencies.record(performance.now() - began);
  } while (performance.now() < end);
  return { ...(latencies.read() as Latencies), items };
}
