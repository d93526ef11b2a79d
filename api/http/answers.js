/**
 * It is not told how much of a piece is taken, only when it is taken whole: for each so many bytes that wait there is
 * `stallMs` once more.
 */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * The answers that are under way. Their connections are not among those that say nothing for themselves, until nothing but
 * their client keeps them: who does not take his answer is one of the crowd again, and given up after `stallMs`. Node's own
 * timeout would not do: each byte that he sends begins it anew.
 *
 * @param {object} parts
 * @param {import('../access/connection-limits.js').Pending} parts.pending
 * @param {number} parts.stallMs an answer of which no part is taken for so long is given up
 * @param {() => number} [parts.elapsed] ms of a clock that never goes back
 */
export function createAnswers({ pending, stallMs, elapsed = () => performance.now() }) {
  /** @type {Map<import('node:http').ServerResponse, { socket: import('node:net').Socket, taken: number, since: number }>} */
  const underWay = new Map();

  return {
    /** @param {import('node:http').ServerResponse} res whose turn it is on its connection */
    begin(res) {
      const { socket } = res.req;
      pending.pass(socket);
      underWay.set(res, { socket, taken: 0, since: elapsed() });
      res.once('close', () => {
        underWay.delete(res);
        pending.enter(socket);
      });
    },

    /** To be called every now and then. */
    look() {
      const now = elapsed();
      for (const [res, progress] of underWay) {
        const { socket } = progress;
        if (res.writableEnded) pending.enter(socket);
        const waiting = socket.writableLength;
        const taken = socket.bytesWritten - waiting;
        if (waiting === 0 || taken !== progress.taken) Object.assign(progress, { taken, since: now });
        else if (now - progress.since > stallMs * (1 + waiting / PIECE_BYTES)) socket.destroy();
      }
    },
  };
}
