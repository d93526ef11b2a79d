import { once } from 'node:events';

/**
 * One reader's end of a stream. What it has not read yet waits in the connection; whoever writes asks first whether
 * it is behind, so that a slow reader costs no memory.
 *
 * @param {import('express').Response} res its headers are sent
 * @param {string} instance what the ids of this process begin with
 */
export function createReader(res, instance) {
  let sequence = 0;
  let stalled = false;
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  res.on('drain', () => {
    stalled = false;
  });

  const isOpen = () => !gone.signal.aborted && !res.writableEnded;
  const isBehind = () => res.writableNeedDrain;

  return {
    isOpen,

    /** Whether it has not yet read all that was sent. */
    isBehind,

    /** @param {'snapshot' | 'delta' | 'stats'} event @param {unknown} data */
    send(event, data) {
      if (!isOpen()) return;
      res.write(`id: ${instance}-${++sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },

    /** @returns {Promise<void>} settles when it has caught up, or has gone */
    async caughtUp() {
      if (!isOpen() || !isBehind()) return;
      // The only failure is that it has gone, which whoever waits here looks at next.
      await once(res, 'drain', { signal: gone.signal }).catch(() => {});
    },

    /**
     * A comment, so that proxies do not close a quiet stream. Who is behind and has read nothing since the last one is
     * dropped: it comes back, and gets a fresh snapshot.
     */
    beat() {
      if (!isOpen()) return;
      if (!isBehind()) res.write(':\n\n');
      else if (stalled) res.destroy();
      else stalled = true;
    },

    end: () => res.end(),
  };
}

/** @typedef {ReturnType<typeof createReader>} Reader */
