/** Messages of one connection that may be unsettled before it is read no further. */
const MOST_UNSETTLED = 64;

/**
 * Back-pressure for one connection of the broker. The broker reads with `socket.read()` whenever something is
 * readable and hands every packet on at once; so this socket says that nothing is there while too many messages of it
 * are unsettled, the operating system's buffers fill, and TCP holds the device back.
 *
 * @param {import('node:net').Socket} socket
 * @param {(chunk: Uint8Array) => void} onRead sees everything that is read
 */
export function createFlow(socket, onRead) {
  const read = socket.read.bind(socket);
  let unsettled = 0;
  let held = false;

  socket.read = (size) => {
    if (unsettled >= MOST_UNSETTLED) {
      held = true;
      return null;
    }
    const chunk = read(size);
    if (chunk) onRead(chunk);
    return chunk;
  };

  return {
    enter() {
      unsettled++;
    },
    leave() {
      unsettled--;
      if (!held || unsettled >= MOST_UNSETTLED) return;
      held = false;
      socket.emit('readable');
    },
  };
}

/** @typedef {ReturnType<typeof createFlow>} Flow */
