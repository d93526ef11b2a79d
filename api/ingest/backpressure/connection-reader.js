/** What one connection may have unsettled before it is read no further. */
const MOST_UNSETTLED = { messages: 64, bytes: 1024 * 1024 };

/**
 * Back-pressure for one connection of the broker. The broker reads with `socket.read()` whenever something is
 * readable and hands every packet on at once; so this socket says that nothing is there while too many messages of it
 * are unsettled, or while messages of any connection wait for the byte budget. The operating system's buffers fill,
 * and TCP holds the device back.
 *
 * @param {import('node:net').Socket} socket
 * @param {object} parts
 * @param {(chunk: Uint8Array) => void} parts.onRead sees everything that is read
 * @param {import('./read-scheduler.js').Turns} parts.turns
 * @param {() => boolean} parts.isConnected until then it is read in any case: CONNECT is answered, whatever is waiting
 */
export function createFlow(socket, { onRead, turns, isConnected }) {
  const read = socket.read.bind(socket);
  let messages = 0;
  let bytes = 0;
  let held = false;
  let stopped = false;
  /** @type {(() => void) | null} set while it waits for its turn */
  let leaveTurns = null;

  const full = () => stopped || messages >= MOST_UNSETTLED.messages || bytes >= MOST_UNSETTLED.bytes;

  function readOn() {
    leaveTurns = null;
    socket.emit('readable');
  }

  socket.read = (size) => {
    if (full()) {
      held = true;
      return null;
    }
    if (turns.full && isConnected()) {
      leaveTurns ??= turns.wait(readOn);
      return null;
    }
    const chunk = read(size);
    if (chunk) onRead(chunk);
    return chunk;
  };
  // A socket says that the device has left only when it is read. While messages wait nobody reads, and those of a
  // device that has left would wait for nobody. One that has more to say is heard first, when its turn comes.
  socket.on('readable', () => {
    if (turns.full && socket.readableLength === 0) read(0);
  });
  socket.on('close', () => leaveTurns?.());

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
    /** Whether it may be we who do not read, so that the device's word remains unheard. */
    get busy() {
      return messages > 0 || leaveTurns !== null;
    },
    /** Nothing more is read from this connection. */
    stop() {
      stopped = true;
    },
  };
}

/** @typedef {ReturnType<typeof createFlow>} Flow */
