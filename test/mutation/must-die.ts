/** @import { Known } from './known-mistakes.js' */

/**
 * Mistakes that the gate makes, each with the test that must notice it. `before` occurs exactly once in the file. When the code changes,
 * name the new code here, with a mistake of the same kind; check it with `npm run test:mutation`.
 *
 * @type {Known[]}
 */
export const MUST_DIE = [
  // The packed form.
  {
    file: 'schema/packed/hour/bytes.js',
    before: 'bytes.push((lo & 0x7f) | 0x80);',
    after: 'bytes.unshift((lo & 0x7f) | 0x80);',
    test: 'test/unit/schema/packed/hour/pack-hour.test.js',
  },
  {
    file: 'schema/packed/pack.js',
    before: 'view.setUint32(at, /** @type {number} */ (times[i]) - bucket, true);',
    after: '',
    test: 'test/unit/schema/packed/pack.test.js',
  },
  {
    file: 'schema/packed/block.js',
    before: 'view.setUint16(at, isShared ? 0 : count, true);',
    after: 'view.setUint16(at, count, true);',
    test: 'test/unit/schema/packed/block.test.js',
  },
  {
    file: 'schema/packed/statistics.js',
    before: 'if (value > max) max = value;',
    after: '',
    test: 'test/unit/schema/packed/pack.test.js',
  },
  {
    file: 'schema/packed/statistics.js',
    before: 'return sum + lost;',
    after: 'return sum;',
    test: 'test/unit/schema/packed/sum.test.js',
  },
  // Rules and sizes.
  {
    file: 'schema/rules.js',
    before: 'MAX_SAMPLES_PER_HISTORY_ROW = 65_536',
    after: 'MAX_SAMPLES_PER_HISTORY_ROW = 131_072',
    test: 'test/unit/history/packing/index.test.js',
  },
  {
    file: 'schema/sizes.js',
    before: 'const batchHours = devices * batchDays * DAY_HOURS;',
    after: 'const batchHours = devices * DAY_HOURS;',
    test: 'test/unit/schema/sizes.test.js',
  },
  // From the message to its acknowledgement.
  {
    file: 'api/mqtt/acknowledgements.js',
    before: 'while (this.#pending[0]?.isSettled) this.#pending.shift()?.acknowledge();',
    after: 'this.#pending.shift()?.acknowledge();',
    test: 'test/unit/mqtt/acknowledgements.test.js',
  },
  {
    file: 'api/ingest/decode/message-batch.js',
    before: 'if (ts < this.#rules.oldest) return',
    after: 'if (ts <= this.#rules.oldest) return',
    test: 'test/unit/ingest/decode/message-batch.test.js',
  },
  {
    file: 'api/ingest/admission/byte-budget.js',
    before: 'this.#used -= payloadBytes + MESSAGE_OVERHEAD;',
    after: 'this.#used -= payloadBytes;',
    test: 'test/unit/ingest/admission/byte-budget.test.js',
  },
  {
    file: 'api/store/measurements/writes.js',
    before: 'this.hour.pieces.push(...hour.pieces);',
    after: '',
    test: 'test/unit/store/measurements/pending-hours.test.js',
  },
  {
    file: 'api/store/sending/pending-rows.js',
    before: 'this.close();',
    after: '',
    test: 'test/unit/store/sending/pending-rows.test.js',
  },
  {
    file: 'api/store/sending/pending-rows.js',
    before: 'const written = this.#session.writeMerged(row);',
    after: 'const written = Promise.resolve(); void this.#session.writeMerged(row);',
    test: 'test/unit/store/sending/pending-rows.test.js',
  },
  {
    file: 'api/store/sending/pending-rows.js',
    before: 'if (isTimeout(failure)) row.parts = this.#divide(row);',
    after: '',
    test: 'test/unit/store/sending/request-bounds.test.js',
  },
  {
    file: 'api/store/sending/write-merger.js',
    before: 'if (each.inFlight < BUSY_REQUESTS || this.#isFull(each))',
    after: 'if (this.#isFull(each))',
    test: 'test/unit/store/sending/write-merger.test.js',
  },
  {
    file: 'api/ingest/admission/index.js',
    before: 'const result = before ? before.then(work, work) : work();',
    after: 'const result = work();',
    test: 'test/unit/ingest/admission/device-queue.test.js',
  },
  {
    file: 'api/mqtt/embedded/reading/connection-reader.js',
    before: 'if (packets === 0 && this.#socket.readableLength > 0) this.#askForTurn(needsRoom);',
    after: '',
    test: 'test/unit/mqtt/embedded/reading/connection-reader-wakes.test.js',
  },
  {
    file: 'api/mqtt/embedded/reading/read-scheduler.js',
    before: 'return this.#packets < TURN_PACKETS && ',
    after: 'return ',
    test: 'test/unit/mqtt/embedded/reading/read-scheduler.test.js',
  },
  {
    file: 'api/mqtt/embedded/reading/read-scheduler.js',
    before: 'return isFirst && this.#hasTime();',
    after: 'return this.#hasTime();',
    test: 'test/unit/mqtt/embedded/reading/read-scheduler.test.js',
  },
  // Packing and reading.
  {
    file: 'api/history/packing/sensor-hour.js',
    before: 'time === b.times[at] && Object.is(a.values[at], b.values[at])',
    after: 'time === b.times[at]',
    test: 'test/unit/history/packing/index.test.js',
  },
  {
    file: 'api/history/packing/device-hour.js',
    before: 'into.unreadable++;',
    after: '',
    test: 'test/unit/history/sensor-hour.test.js',
  },
  {
    file: 'api/history/packing/index.js',
    before: 'Math.min(...this.#packedUntil.values())',
    after: 'Math.max(...this.#packedUntil.values())',
    test: 'test/unit/history/packing/index.test.js',
  },
  {
    file: 'api/history/reading/hours.js',
    before: 'exact: isExact(row) ? row.statistics : null,',
    after: 'exact: row.statistics,',
    test: 'test/unit/history/reading/hours.test.js',
  },
  {
    file: 'api/history/reading/bins.js',
    before: 'points.push({ ts: this.#grid.startOf(bin), min, max',
    after: 'points.push({ ts: this.#grid.startOf(bin + 1), min, max',
    test: 'test/unit/history/reading/bins.test.js',
  },
  {
    file: 'api/store/history/writes.js',
    before: 'days.writeLate(key, hours, lateAt),',
    after: '',
    test: 'test/unit/support/store-contract.test.js',
  },
  {
    file: 'api/store/history/days.js',
    before: 'return isMissing || !marked.every(isExact) ? null : marked;',
    after: 'return isMissing ? null : marked;',
    test: 'test/unit/support/store-contract.test.js',
  },
  // Backpressure.
  {
    file: 'api/store/sending/congestion-window.js',
    before: 'this.#size = Math.max(this.#min, this.#size * AFTER_FAILURES);',
    after: ';',
    test: 'test/unit/store/sending/congestion-window.test.js',
  },
  {
    file: 'api/store/sending/congestion-window.js',
    before: 'if (this.#probe && !failed) return this.#recordProbed(this.#probe, began, now);',
    after: '',
    test: 'test/unit/store/sending/congestion-window.test.js',
  },
  // Formats and Sparkplug.
  {
    file: 'api/ingest/decode/senml.js',
    before: 'takeBase(index, fields, base);',
    after: '',
    test: 'test/unit/ingest/decode/senml.test.js',
  },
  {
    file: 'api/ingest/decode/json-cursor.js',
    before: 'if (decimals === 0) return Number.NaN;',
    after: '',
    test: 'test/unit/ingest/decode/senml-fast.test.js',
  },
  {
    file: 'api/ingest/sparkplug/metrics.js',
    before: "(typeof value === 'object' ? value.low : Number(value))",
    after: 'Number(value)',
    test: 'test/unit/ingest/sparkplug/payload.test.js',
  },
  {
    file: 'api/ingest/sparkplug/nodes.js',
    before: 'const inOrder = this.#next === null || seq === this.#next;',
    after: 'const inOrder = true;',
    test: 'test/unit/ingest/sparkplug/sequence.test.js',
  },
  // Credentials.
  {
    file: 'api/access/credentials/permissions.js',
    before: '!WILDCARD.test(device) && (speaksFor',
    after: '(speaksFor',
    test: 'test/unit/access/credentials/permissions.test.js',
  },
  {
    file: 'api/access/credentials/accounts.js',
    before: 'if (window) window.count++;',
    after: '',
    test: 'test/unit/access/credentials/accounts.test.js',
  },
  // Faults of the simulator.
  {
    file: 'simulator/faults/rates.js',
    before: '!(rate >= 0 && rate <= 1)',
    after: '!(rate >= 0)',
    test: 'test/unit/simulator/flags.test.js',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: 'shuffled.slice(0, kept)',
    after: 'shuffled',
    test: 'test/unit/simulator/faults.test.js',
  },
  {
    file: 'api/access/credentials/permissions.js',
    before: "if (filter.startsWith('$')) return false;",
    after: '',
    test: 'test/unit/access/credentials/permissions.test.js',
  },
  // Mistakes that no unit test noticed on 2026-11-22.
  {
    file: 'schema/rules.js',
    before: 'LATE_MARGIN_MS = 5 * 60_000',
    after: 'LATE_MARGIN_MS = 0',
    test: 'test/unit/schema/rules.test.js',
  },
  {
    file: 'api/history/packing/passes.js',
    before: 'series, readFrom, found.unreadable);\n        packed.add(id);',
    after: 'series, await clock.now(), found.unreadable);\n        packed.add(id);',
    test: 'test/unit/history/packer.test.js',
  },
  {
    file: 'api/history/packing/packer.js',
    before: 'return packedUntil >= day + DAY_MS && now',
    after: 'return now',
    test: 'test/unit/history/packer.test.js',
  },
  {
    file: 'api/ingest/late-samples.js',
    before: 'await days.note(device, late);',
    after: 'void days.note(device, late);',
    test: 'test/unit/history/late-rows.test.js',
  },
  {
    file: 'api/store/sending/congestion-window.js',
    before: '.sort()',
    after: '',
    test: 'test/unit/store/sending/median.test.js',
  },
  {
    file: 'api/access/http/sessions.js',
    before: "path: '/', secure }",
    after: "path: '/', secure: false }",
    test: 'test/unit/http/access/cookies.test.js',
  },
  {
    file: 'api/ingest/sparkplug/definition-book.js',
    before: 'before?.text === definitions.text && ',
    after: 'false && ',
    test: 'test/unit/ingest/sparkplug/definition-book.test.js',
  },
  {
    file: 'api/access/credentials/credential-service.js',
    before: 'if (result && wasValid) await onChange(result.deviceId);',
    after: '',
    test: 'test/unit/access/credentials/credential-updater.test.js',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: 'Math.ceil(shuffled.length / 2)',
    after: 'Math.floor(shuffled.length / 2)',
    test: 'test/unit/simulator/faults-exact.test.js',
  },
  {
    file: 'simulator/verify/ledger-parts.js',
    before: 'grown.set(this.#bytes);',
    after: '',
    test: 'test/unit/simulator/verify/bitmap.test.js',
  },
  {
    file: 'simulator/verify/sensor.js',
    before: 'strange.length > 0 || beaten',
    after: 'strange.length > 0',
    test: 'test/unit/simulator/verify/compare.test.js',
  },
];
