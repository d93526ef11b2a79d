/** What one connection may have unsettled before it is read no further. */
const MOST_UNSETTLED = { messages: 64, bytes: 1024 * 1024 };

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
  let messages = 0;
  let bytes = 0;
  let held = false;
  let stopped = false;

  const full = () => stopped || messages >= MOST_UNSETTLED.messages || bytes >= MOST_UNSETTLED.bytes;

  socket.read = (size) => {
    if (full()) {
      held = true;
      return null;
    }
    const chunk = read(size);
    if (chunk) onRead(chunk);
    return chunk;
  };

  return {
    /** @param {number} size of a message that is now being settled, in bytes */
    enter(size) {
      messages++;
      bytes += size;
    },
    /** @param {number} size of a message that is settled, in bytes */
    leave(size) {
      messages--;
      bytes -= size;
      if (!held || full()) return;
      held = false;
      socket.emit('readable');
    },
    /** Whether messages are being settled; while they are, reading may rest, and the device's word remains unheard. */
    get busy() {
      return messages > 0;
    },
    /** Nothing more is read from this connection. */
    stop() {
      stopped = true;
    },
  };
}

/** @typedef {ReturnType<typeof createFlow>} Flow */
