const STATUS_INTERVAL_MS = 10_000;

/**
 * Reports the progress of a long test, with the time since its start and since the previous report. It writes to the stream
 * itself, because jest shows printed text only at the end.
 */
export function createProgress(stream: NodeJS.WritableStream) {
  const startedAt = Date.now();
  let reportedAt = 0;
  let stageBegan = startedAt;

  function note(text: string, took: string = '') {
    reportedAt = Date.now();
    stream.write(`  +${secondsSince(startedAt)} s ${took.padStart(8)}  ${text}\n`);
  }

  function report(text: string) {
    note(text, `(${secondsSince(stageBegan).trim()} s)`);
    stageBegan = Date.now();
  }

  function reportStatus(text: string) {
    if (Date.now() - reportedAt >= STATUS_INTERVAL_MS) note(text);
  }

  return { report, note, reportStatus };
}

const secondsSince = (began: number) => String(Math.round((Date.now() - began) / 1000)).padStart(4);
