/**
 * Every process of a test run loads this first (`--import`). It records each kind of request that the
 * process sends to its database, once, at the first request, so that the records of a killed process are complete.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SentRequest } from '../../../api/store/driver-policies.ts';
import { recordOf } from './record.ts';
import { RECORDS } from './recording.ts';

/**
 * Equals `SENT_REQUESTS` of api/store/driver-policies.ts. An import of that file would load the driver. Small processes load this
 * file too, such as a fake program, and the driver would take several times as long as all their other work.
 */
const CHANNEL = 'millrace:cql:request';

const folder = process.env[RECORDS];
if (folder) record(join(folder, `${process.pid}.jsonl`));

/** @param path of the file, to which later processes with the same id append */
function record(path: string) {
  const seen: Set<string> = new Set();
  subscribe(CHANNEL, (message) => {
    const line = JSON.stringify(recordOf(message as SentRequest));
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(path, `${line}\n`);
  });
}
