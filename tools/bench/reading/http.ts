import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { MillraceError } from '../../../common/errors.ts';

const LINE_FEED = 10;

/** Keeps its connections open, as a browser does. */
export function createHttpReader(url: string) {
  const agent = new Agent({ keepAlive: true });

  /** @throws {MillraceError} `failed`, with the text of the answer, if its status is not 200 */
  async function open(path: string, accept: string = 'application/json'): Promise<IncomingMessage> {
    const sent = request(new URL(path, url), { agent, headers: { accept } }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    if (answer.statusCode === 200) return answer;
    throw new MillraceError('failed', `${path} answers ${answer.statusCode}: ${await text(answer)}`);
  }

  return {
    open,

    /** @template T the answer, as the API describes it */
    json: async <T>(path: string): Promise<T> => (await json(await open(path))) as T,

    /** The answer is read as a stream. */
    async lines(path: string, accept: string): Promise<number> {
      let lines = 0;
      for await (const chunk of await open(path, accept)) lines += lineFeedsIn(chunk);
      return lines;
    },

    close: () => agent.destroy(),
  };
}

export type HttpReader = ReturnType<typeof createHttpReader>;

function lineFeedsIn(chunk: Buffer) {
  let count = 0;
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}
