/**
 * Shows the progress of a long task: one line that is rewritten on a terminal, or plain lines in a log.
 *
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream usually `process.stderr`
 * @param {{ everyMs?: number }} [options] `everyMs`: minimum time between two plain lines, in ms
 */
export function createStatusLine(stream, { everyMs = 10_000 } = {}) {
  const terminal = 'isTTY' in stream && stream.isTTY ? stream : null;
  let shown = '';
  let lastPlain = 0;

  const clear = () => {
    if (terminal && shown) terminal.write('\r\u001b[2K');
    shown = '';
  };

  return {
    /** @param {string} text replaces the current status */
    update(text) {
      if (terminal) {
        const line = text.slice(0, Math.max(20, (terminal.columns || 80) - 1));
        terminal.write(`\r\u001b[2K${line}`);
        shown = line;
      } else if (Date.now() - lastPlain >= everyMs) {
        lastPlain = Date.now();
        stream.write(`${text}\n`);
      }
    },
    /** @param {string} text a line that stays */
    print(text) {
      const was = shown;
      clear();
      stream.write(`${text}\n`);
      if (was) this.update(was);
    },
    /** Removes the status. Printed lines stay. */
    clear,
  };
}

/** @typedef {ReturnType<typeof createStatusLine>} StatusLine */
