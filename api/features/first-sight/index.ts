/** Posts each device that registers to a URL. The tutorial "Write a feature" explains this file. */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { messageOf } from '../../../common/errors.ts';
import { defineSettings } from '../../../common/settings/index.ts';
import { webAddress } from '../../../common/settings/value-types.ts';
import { defineFeature } from '../../feature.ts';

const SETTINGS = defineSettings({
  title: 'First sight of a device',
  shape: {
    FIRST_SIGHT_URL: webAddress()
      .optional()
      .meta({ description: 'Receives a POST for each device that registers.', unset: 'nobody' }),
  },
  arrange: (values) => ({ url: values.FIRST_SIGHT_URL }),
});

const TIMEOUT_MS = 5000;
/** Pauses before the second and each further attempt. */
const PAUSES_MS = [1000, 10_000, 60_000];
const POSTS_AT_ONCE = 4;
const MAX_WAITING = 10_000;

export const firstSightFeature = defineFeature({
  name: 'first-sight',
  settings: [SETTINGS],
  create({ context: { config, clock, logger, metrics } }) {
    const { url } = config.of(SETTINGS);
    const posts = metrics.declare.counter(
      'iot_first_sight_posts_total',
      'Posts of new devices, by success',
      'ok',
    );
    if (url === undefined) return {};
    const ending = new AbortController();
    const limit = pLimit(POSTS_AT_ONCE);

    async function post(body: string) {
      for (const pauseMs of [...PAUSES_MS, null]) {
        const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(TIMEOUT_MS)]);
        const problem = await send(String(url), body, signal).catch(messageOf);
        if (ending.signal.aborted) return;
        posts.inc({ ok: String(problem === null) });
        if (problem === null) return;
        logger.warn({ url, problem, pauseMs }, 'the post of a new device failed');
        if (pauseMs !== null) await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => {});
      }
    }

    return {
      onRegistered({ id, name, site }) {
        if (limit.pendingCount >= MAX_WAITING)
          return logger.warn({ url, device: id }, 'too many new devices wait, and one is not posted');
        const body = JSON.stringify({ device_id: id, device: name, site, registered: new Date(clock()) });
        void limit(post, body);
      },
      stop() {
        limit.clearQueue();
        ending.abort();
      },
    };
  },
});

/** Null: the receiver has it. No redirect is followed, because `fetch` may leave out the body then. */
async function send(url: string, body: string, signal: AbortSignal): Promise<string | null> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  // An unread answer occupies its connection.
  await answer.body?.cancel();
  return answer.ok ? null : `status ${answer.status}`;
}
