import { get } from 'node:http';
import { watchEvent } from '../contract/watch.js';
import { until } from '../until.js';

/** @import { IncomingMessage } from 'node:http' */

/**
 * One server-sent event; some have no id.
 *
 * @typedef {{ id: string | undefined, event: string, data: any }} StreamEvent
 */

/**
 * Reads a stream of server-sent events, as a browser's EventSource does.
 *
 * @param {string} url
 * @param {{ headers?: Record<string, string> }} [options]
 */
export async function openStream(url, { headers = {} } = {}) {
  /** @type {StreamEvent[]} */
  const events = [];
  let comments = 0;
  let ended = false;
  let rest = '';

  /** @type {IncomingMessage} */
  const response = await new Promise((resolve, reject) =>
    get(url, { headers }, resolve).once('error', reject),
  );
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  response.setEncoding('utf8').on('data', (text) => {
    const blocks = (rest + text).split('\n\n');
    rest = String(blocks.pop());
    for (const block of blocks) {
      if (block.startsWith(':')) comments++;
      else addEvent(parse(block));
    }
  });
  for (const event of ['close', 'error']) {
    response.on(event, () => {
      ended = true;
    });
  }

  /** @param {StreamEvent} event */
  function addEvent(event) {
    watchEvent(event);
    events.push(event);
  }

  /** @param {string[]} kinds @returns {any[]} the items of all events of these kinds */
  const items = (...kinds) =>
    events.filter(({ event }) => kinds.includes(event)).flatMap(({ data }) => data.items);

  return {
    events,
    headers: response.headers,
    items,
    /** The last item of each sensor, as a reader would have it. */
    state: () =>
      new Map(items('snapshot', 'delta').map((item) => [`${item.device_id}/${item.sensor_id}`, item])),
    comments: () => comments,
    hasEnded: () => ended,
    /** @param {string} kind @returns {Promise<StreamEvent>} the first event of this kind */
    first: (kind) => until(() => events.find(({ event }) => event === kind), { what: `an event ${kind}` }),
    /** Stops reading, so that the connection fills. */
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  };
}

/** @typedef {Awaited<ReturnType<typeof openStream>>} EventStream */

/** @param {string} block @returns {StreamEvent} */
function parse(block) {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { id: fields['id'], event: fields['event'], data: JSON.parse(fields['data']) };
}
