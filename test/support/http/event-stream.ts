import { get, type IncomingMessage } from 'node:http';
import { watchEvent } from '../contract/watch.ts';
import type { Json } from '../json.ts';
import { until } from '../until.ts';

type StreamEvent = { id: string | undefined; event: string; data: Json };

export async function openStream(url: string, { headers = {} }: { headers?: Record<string, string> } = {}) {
  const events: StreamEvent[] = [];
  let comments = 0;
  let ended = false;
  let rest = '';

  const response: IncomingMessage = await new Promise((resolve, reject) =>
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

  function addEvent(event: StreamEvent) {
    watchEvent(event);
    events.push(event);
  }

  const items = (...kinds: string[]) =>
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
    first: (kind: string): Promise<StreamEvent> =>
      until(() => events.find(({ event }) => event === kind), { what: `an event ${kind}` }),
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  };
}

export type EventStream = Awaited<ReturnType<typeof openStream>>;

function parse(block: string): StreamEvent {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { id: fields['id'], event: fields['event'], data: JSON.parse(fields['data']) };
}
