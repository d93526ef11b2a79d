const STATUS_INTERVAL_MS = 10_000;

/**
 * Reports the progress of a long test, with the time since its start and since the previous report. It writes to the stream
 * itself, because jest shows printed text only at the end.
 *
 * @param {NodeJS.WritableStream} stream
 */
export function createProgress(stream) {
  const startedAt = Date.now();
  let reportedAt = 0;
  let stageBegan = startedAt;

  /** Reports a text that does not end a stage. @param {string} text @param {string} [took] */
  function note(text, took = '') {
    reportedAt = Date.now();
    stream.write(`  +${secondsSince(startedAt)} s ${took.padStart(8)}  ${text}\n`);
  }

  /** Reports the end of a stage. @param {string} text */
  function report(text) {
    note(text, `(${secondsSince(stageBegan).trim()} s)`);
    stageBegan = Date.now();
  }

  /** Reports the current status, at most every ten seconds. @param {string} text */
  function reportStatus(text) {
    if (Date.now() - reportedAt >= STATUS_INTERVAL_MS) note(text);
  }

  return { report, note, reportStatus };
}

const secondsSince = (/** @type {number} */ began) =>
  String(Math.round((Date.now() - began) / 1000)).padStart(4);
