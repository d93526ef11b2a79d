import { once } from 'node:events';

/**
 * One reader's end of a stream. What it has not read yet waits in the connection, no more than one event and what the
 * connection itself takes, so that a slow reader costs no memory.
 *
 * @param {import('express').Response} res its headers are sent
 */
export function createReader(res) {
  let stalled = false;
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  res.on('drain', () => {
    stalled = false;
  });

  const isOpen = () => !gone.signal.aborted && !res.writableEnded;
  const isBehind = () => res.writableNeedDrain;

  return {
    /** Told is all up to this position of its channel. */
    position: 0,

    /** Whether it is being told something. */
    busy: false,

    isOpen,

    /** Tells something that it may miss, unless it has not yet read what was sent before. @param {Buffer} frame */
    mention(frame) {
      if (isOpen() && !isBehind()) res.write(frame);
    },

    /**
     * Tells one event after the other, as fast as it reads them.
     *
     * @param {import('./frames.js').Frames} frames
     * @returns {Promise<void>} settles when all is told, or it has gone
     */
    async tell({ position, count, frame }) {
      this.busy = true;
      for (let at = 0; at < count; at++) {
        // The only failure is that it has gone.
        if (isOpen() && isBehind()) await once(res, 'drain', { signal: gone.signal }).catch(() => {});
        if (!isOpen()) return;
        res.write(frame(at));
      }
      this.position = position;
      this.busy = false;
    },

    /**
     * A comment, so that proxies do not close a quiet stream. Who is behind and has read nothing since the last one is
     * dropped: it comes back, and goes on from where it was.
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
