/** @import { Known } from './ci.js' */

/**
 * Mistakes that no unit test noticed on 2026-11-22, by the number of the finding. `npm run test:mutation -- --findings` tries them on
 * all unit tests that import the file. One that dies belongs in must-die.js, with the test that noticed it.
 *
 * @type {Known[]}
 */
export const FINDINGS = [
  ['S1', 'schema/rules.js', 'LATE_MARGIN_MS = 5 * 60_000', 'LATE_MARGIN_MS = 0'],
  [
    'S2',
    'api/ingest/sample-writer.js',
    `const hours = await this.#write(device, series);
    // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
    const time = this.#clock.now();`,
    `const time = this.#clock.now();
    const hours = await this.#write(device, series);`,
  ],
  [
    'S3',
    'api/history/packing/passes.js',
    'series, readFrom, found.unreadable);\n        packed.add(id);',
    'series, await clock.now(), found.unreadable);\n        packed.add(id);',
  ],
  ['S4', 'api/history/packing/packer.js', 'return packedUntil >= day + DAY_MS && now', 'return now'],
  ['S5', 'api/store/latest/writes.js', 'await row.done;', 'void row.done;'],
  ['S6', 'api/store/latest/writes.js', 'if (!isNews(each)) continue;', ''],
  ['S7', 'api/ingest/late-samples.js', 'await days.note(device, late);', 'void days.note(device, late);'],
  ['S7', 'api/ingest/late-samples.js', 'settlingOf(day) - LATE_MARGIN_MS', 'settlingOf(day)'],
  ['S9', 'api/store/sending/congestion-window.js', 'this.#bound.record?.(began, isFailure(error));', ''],
  [
    'S9',
    'api/store/sending/congestion-window.js',
    "error.code === 'unavailable'",
    "error.code !== 'unavailable'",
  ],
  ['S9', 'api/store/sending/congestion-window.js', '.sort()', ''],
  ['S9', 'api/store/sending/congestion-window.js', 'this.#unloaded.shift()', 'this.#unloaded.pop()'],
  ['S11', 'api/access/http/sessions.js', "path: '/', secure }", "path: '/', secure: false }"],
  [
    'S11',
    'api/access/http/index.js',
    'requireSameOrigin(req, ANYBODY);\n      res.clearCookie',
    'res.clearCookie',
  ],
  ['S12', 'schema/sparkplug-topics.js', "type === 'NBIRTH' || type === 'DBIRTH'", 'false'],
  ['S12', 'schema/sparkplug-topics.js', "type === 'NDEATH' || type === 'DDEATH'", 'false'],
  ['S12', 'api/ingest/sparkplug/definition-book.js', 'before?.text === text && ', 'false && '],
  ['S12', 'api/ingest/sparkplug/definition-book.js', '!known || known.bornAt <= bornAt', 'true'],
  [
    'S13',
    'api/access/credentials/credential-service.js',
    'devices.length > MAX_DEVICES',
    'devices.length > MAX_DEVICES + 1',
  ],
  [
    'S13',
    'api/access/credentials/credential-service.js',
    'if (result && wasValid) await onChange(result.deviceId);',
    '',
  ],
  ['S14', 'api/ingest/decode/index.js', 'if (Array.isArray(content) && isSenml(elements[0]))', 'if (false)'],
  ['S14', 'api/ingest/decode/index.js', 'SENML_LABELS.some(', 'SENML_LABELS.every('],
  ['S14', 'api/ingest/decode/senml.js', 'Math.round(seconds * 1000)', 'Math.floor(seconds * 1000)'],
  [
    'S15',
    'api/ingest/handlers/measurements.js',
    'seenAt === null ? undefined : write.lastSeen',
    'write.lastSeen',
  ],
  ['S15', 'api/ingest/late-samples.js', 'onLate(to - from);', ''],
  [
    'S16',
    'simulator/faults/device-faults.js',
    'Math.ceil(shuffled.length / 2)',
    'Math.floor(shuffled.length / 2)',
  ],
  ['S18', 'simulator/verify/parts.js', 'grown.set(this.#bytes);', ''],
  ['S18', 'simulator/verify/sensor.js', 'strange.length > 0 || beaten', 'strange.length > 0'],
  ['S18', 'simulator/verify/device.js', 'if (samples.some(({ time }) => time > ts)) return false;', ''],
].map(([finding, file = '', before = '', after = '']) => ({ finding, file, before, after }));
