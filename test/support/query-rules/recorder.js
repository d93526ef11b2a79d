/**
 * Loaded into every process of a test run before anything else (`--import`): writes down each kind of request that the
 * process sends to its database, once, at the moment it is first seen, so that nothing is forgotten by a process that is
 * killed.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { SENT_REQUESTS } from '../../../api/store/tracker.js';
import { recordOf } from './record.js';
import { RECORDS } from './recording.js';

/** @import { SentRequest } from '../../../api/store/tracker.js' */

const folder = process.env[RECORDS];
if (folder) record(join(folder, `${process.pid}.jsonl`));

/** @param {string} path of the file, which other processes of the same number go on with */
function record(path) {
  /** @type {Set<string>} */
  const seen = new Set();
  subscribe(SENT_REQUESTS, (message) => {
    const line = JSON.stringify(recordOf(/** @type {SentRequest} */ (message)));
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(path, `${line}\n`);
  });
}
