import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { DAY_MS, LATE_DAY_DAYS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { abortOnClose, digits, fields, parseTimeParameter, readQuery } from '../../http/index.ts';
import type { ConcurrencyLimit } from '../../http/long-requests.ts';
import type { Route } from '../../http/route.ts';
import { createBlockStore } from '../shared/blocks/index.ts';
import { createWrite } from '../shared/files/index.ts';
import { Changes, CommitHorizon, type Position } from './changes.ts';
import { createCommitMarkStore } from './commit-marks.ts';

type Deps = Core & { changeReaders: ConcurrencyLimit };

/** In s, until the first change. Proxies close a silent connection after a minute. */
const MAX_WAIT_S = 20;

/** In ms. An answer ends after this time, so that a client gets a new cursor regularly even if there are few changes. */
const ANSWER_MS = 30_000;

const SCOPE = 'changes';

const QUERY = {
  since: z.string().optional().meta({
    description:
      'A `cursor` of an earlier answer, or a time of the last 13 days. A time begins with its whole hour. Default: from now on.',
    example: '-1h',
  }),
  limit: fields.limit,
  wait: digits(0, MAX_WAIT_S)
    .default(MAX_WAIT_S)
    .meta({ description: 'How long the answer waits for a first change, in s.' }),
};

/** `GET /changes`: waits for a while if there are no new changes. */
export function getChanges({
  store,
  context: { config, clock },
  http: { cursors },
  changeReaders,
}: Deps): RequestHandler {
  const { everywhere } = store;
  const { all: readAll } = createCommitMarkStore(everywhere.session);
  const horizon = new CommitHorizon({ stamps: store.stamps, readAll });
  const changes = new Changes({
    store: { devices: store.devices, corrections: everywhere.corrections },
    blocks: createBlockStore(everywhere.session),
    groups: store.groups,
    horizon,
    clock,
  });
  // The table of blocks keeps a block for BATCH_DAYS, and the notes of late samples expire after LATE_DAY_DAYS. Older changes
  // are not complete.
  const days = Math.min(config.retention.batchDays, LATE_DAY_DAYS) - 1;
  // A cursor at the oldest allowed time must stay valid until its client has moved past that time.
  const validMs = (days + 1 / 2) * DAY_MS;

  /** @throws `bad_parameter`, `bad_cursor`, `unavailable` */
  async function positionOf(since: string | undefined): Promise<Position> {
    if (since === undefined) return changes.fromNow();
    const time = parseTimeParameter(since);
    if (time === null) return openCursor(since);
    const now = clock();
    const from = typeof time === 'object' ? now - time.ago : time;
    if (from >= now - days * DAY_MS) return changes.fromTime(from);
    const reason = `a time of the last ${days} days, because changes from before are not complete`;
    throw new MillraceError('bad_parameter', `since: ${reason}`, {
      details: { parameters: [{ name: 'since', reason }] },
    });
  }

  /** @throws `bad_cursor` */
  function openCursor(cursor: string): Position {
    const position: Position = cursors.open(SCOPE, cursor);
    if (position.at >= clock() - validMs) return position;
    throw new MillraceError(
      'bad_cursor',
      `The cursor is at a time more than ${days} days ago: begin again with a time, and export what is before.`,
    );
  }

  return async (req, res) => {
    const { since, limit, wait } = readQuery(req, QUERY);
    let position = await positionOf(since);
    const seal = () => cursors.seal(SCOPE, position, validMs);
    const release = changeReaders.acquire();
    res.set('Content-Type', 'application/x-ndjson; charset=utf-8');
    async function send(signal: AbortSignal) {
      const write = createWrite(res, signal, 'utf8');
      const began = performance.now();
      let sent = 0;
      const isOver = () => sent >= limit || performance.now() - began >= ANSWER_MS;
      while (!isOver()) {
        const waitMs = await changes.readableIn(position);
        if (waitMs > 0) {
          const left = wait * 1000 - (performance.now() - began);
          if (sent > 0 || left <= 0) break;
          await sleep(Math.min(waitMs, left), undefined, { signal });
          continue;
        }
        const step = changes.read(position, signal);
        for (let next = await step.next(); ; next = await step.next()) {
          signal.throwIfAborted();
          position = next.done ? next.value : next.value.position;
          if (next.done) break;
          if (next.value.text !== null) {
            await write(`${next.value.text},"cursor":"${seal()}"}\n`);
            sent++;
          }
          if (isOver()) break;
        }
      }
      // The last line is a position. So a client can continue after changes that it does not get.
      if (sent === 0 || (sent < limit && isOver())) await write(`{"kind":"position","cursor":"${seal()}"}\n`);
      res.end();
    }
    try {
      if (req.method === 'HEAD') res.end();
      else await abortOnClose(res, send);
    } finally {
      // The client may have disconnected earlier. The place in the limit is released only after the last read for this request.
      release();
    }
  };
}

export const readChanges: Operation = {
  id: 'readChanges',
  tag: 'measurements',
  scope: 'read',
  summary: 'All commits in their order, as a stream of lines',
  description: `Change data capture without Kafka. Each line has a \`cursor\`; pass the last one as \`since\` to go on exactly behind it, at any process and after any restart.
\`batch\` lines have what a device measured in one hour (\`bucket\`), of one message or of several. \`watermark\` means that all timely batches of the hours before \`until\` were sent.
\`correction\` lines have the corrections that were accepted in an hour, when this hour has closed and they have ended.
\`position\` is the only line of an answer without changes, and the last of one that ended after 30 s. With up to 1,000 devices a change appears 1 to 5 s after its commit. With more devices it takes longer, because each step reads every device; *Streaming out* in the manual has measurements. The order is final, so changes wait up to 25 s after a process was killed. Batches that come far out of order appear when their hour has closed.
The identity of a sample is its sensor and its instant. A batch that a device sends again may be sent again. The answer waits \`wait\` seconds for a first change, and ends after \`limit\` lines. \`since\` reaches back 13 days, or a day less than \`BATCH_DAYS\`. An older time is \`bad_parameter\`, and a cursor at an older time \`bad_cursor\`.`,
  query: QUERY,
  answers: {
    200: {
      'application/x-ndjson': {
        text: 'A line of JSON for each change, with the members of the records in Kafka, and a cursor.',
        example:
          '{"kind":"batch","device_id":"0b5bd4a2-6f43-5b0c-8f0c-0d0f5a7e7e51","device":"my-desk","bucket":"2026-11-21T11:00:00.000Z","digest":"8f14e45fceea167a","late":false,"committed_at":"2026-11-21T11:04:05.056Z","sensors":[{"sensor_id":"3c59dc04-8e88-5024-a1a0-7ba2a4f1b0c5","sensor":"temperature","samples":[[1795259045056,21.5]]}],"cursor":"AAAA"}\n',
      },
    },
  },
  problems: ['bad_parameter', 'bad_cursor', 'busy', 'unavailable'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/changes', operation: readChanges, handler: getChanges },
];
