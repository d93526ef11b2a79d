const OFTEN_MS = 10_000;

/**
 * Says how a long test goes, with the time since it began, past jest: that shows what is printed only at the end.
 *
 * @param {NodeJS.WritableStream} stream
 */
export function createProgress(stream) {
  const began = Date.now();
  let last = 0;

  /** @param {string} text */
  function say(text) {
    last = Date.now();
    stream.write(`  +${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s  ${text}\n`);
  }

  /** What is true now; shown every ten seconds. @param {string} text */
  say.often = (text) => {
    if (Date.now() - last >= OFTEN_MS) say(text);
  };

  return { say };
}
