import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { MillraceError } from '../../../common/errors.js';

/** @import { IncomingMessage } from 'node:http' */

const LINE_FEED = 10;

/**
 * Creates a reader over HTTP that keeps its connections open, as a browser does.
 *
 * @param {string} url URL of the API process
 */
export function createHttpReader(url) {
  const agent = new Agent({ keepAlive: true });

  /**
   * @param {string} path
   * @param {string} [accept]
   * @returns {Promise<IncomingMessage>}
   * @throws {MillraceError} `failed`, with the text of the answer, if its status is not 200
   */
  async function open(path, accept = 'application/json') {
    const sent = request(new URL(path, url), { agent, headers: { accept } }).end();
    const [answer] = /** @type {[IncomingMessage]} */ (await once(sent, 'response'));
    if (answer.statusCode === 200) return answer;
    throw new MillraceError('failed', `${path} answers ${answer.statusCode}: ${await text(answer)}`);
  }

  return {
    open,

    /** @param {string} path @returns {Promise<any>} */
    json: async (path) => json(await open(path)),

    /** @param {string} path @param {string} accept @returns {Promise<number>} number of lines of the answer, which is read as a stream */
    async lines(path, accept) {
      let lines = 0;
      for await (const chunk of await open(path, accept)) lines += lineFeedsIn(chunk);
      return lines;
    },

    close: () => agent.destroy(),
  };
}

/** @typedef {ReturnType<typeof createHttpReader>} HttpReader */

/** @param {Buffer} chunk */
function lineFeedsIn(chunk) {
  let count = 0;
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}
