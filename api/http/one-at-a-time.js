/**
 * Hands the app the requests of a connection one after the other, as somebody sends them who waits for his answers. Node itself
 * hands over all that come in one piece at once, and when the connection ends, it tells only that answer whose turn it is: what is
 * held for the others would be held for ever.
 *
 * One may wait: the last byte of an answer can be read before it is known here that it was sent, above all with TLS. With
 * a second one that waits the connection ends, since thousands fit in one piece; who sends without waiting has to bear that
 * (RFC 9112, 9.3.2).
 *
 * @param {import('node:http').RequestListener} app
 * @returns {import('node:http').RequestListener}
 */
export function oneAtATime(app) {
  /** @type {WeakMap<import('node:net').Socket, { next?: () => void }>} those with a request under way */
  const busy = new WeakMap();

  /** @type {import('node:http').RequestListener} */
  function serve(req, res) {
    const { socket } = req;
    /** @type {{ next?: () => void }} */
    const turn = {};
    busy.set(socket, turn);
    app(req, res);
    // After what the app does at the end of an answer: the next one has not begun by then.
    res.once('close', () => {
      busy.delete(socket);
      if (!socket.destroyed) turn.next?.();
    });
  }

  return (req, res) => {
    const turn = busy.get(req.socket);
    if (!turn) serve(req, res);
    else if (turn.next) req.socket.destroy();
    else turn.next = () => serve(req, res);
  };
}
