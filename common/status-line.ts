/**
 * One line that is rewritten on a terminal, or plain lines in a log.
 * @param stream usually `process.stderr`
 * @param options `everyMs`: minimum time between two plain lines
 */
export function createStatusLine(
  stream: NodeJS.WriteStream | NodeJS.WritableStream,
  { everyMs = 10_000 }: { everyMs?: number } = {},
) {
  const terminal = 'isTTY' in stream && stream.isTTY ? stream : null;
  let shown = '';
  let lastPlain = 0;

  const clear = () => {
    if (terminal && shown) terminal.write('\r\u001b[2K');
    shown = '';
  };

  return {
    update(text: string) {
      if (terminal) {
        const line = text.slice(0, Math.max(20, (terminal.columns || 80) - 1));
        terminal.write(`\r\u001b[2K${line}`);
        shown = line;
      } else if (Date.now() - lastPlain >= everyMs) {
        lastPlain = Date.now();
        stream.write(`${text}\n`);
      }
    },
    print(text: string) {
      const was = shown;
      clear();
      stream.write(`${text}\n`);
      if (was) this.update(was);
    },
    clear,
  };
}

export type StatusLine = ReturnType<typeof createStatusLine>;
