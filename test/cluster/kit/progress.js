const STATUS_INTERVAL_MS = 10_000;

/**
 * Reports the progress of a long test, with the time since its start. It writes to the stream itself, because jest shows
 * printed text only at the end.
 *
 * @param {NodeJS.WritableStream} stream
 */
export function createProgress(stream) {
  const startedAt = Date.now();
  let reportedAt = 0;

  /** @param {string} text */
  function report(text) {
    reportedAt = Date.now();
    const seconds = String(Math.round((Date.now() - startedAt) / 1000)).padStart(4);
    stream.write(`  +${seconds} s  ${text}\n`);
  }

  /** Reports the current status, at most every ten seconds. @param {string} text */
  function reportStatus(text) {
    if (Date.now() - reportedAt >= STATUS_INTERVAL_MS) report(text);
  }

  return { report, reportStatus };
}
