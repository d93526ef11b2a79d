import type { Known } from './known-mistakes.ts';

/**
 * Mistakes that the gate makes, each with the test that must notice it. `before` occurs exactly once in the file. When the code changes,
 * name the new code here, with a mistake of the same kind; check it with `npm run test:mutation`.
 */
export const MUST_DIE: Known[] = [
  // The packed form.
  {
    file: 'schema/packed/hour/bytes.ts',
    before: 'bytes.push((lo & 0x7f) | 0x80);',
    after: 'bytes.unshift((lo & 0x7f) | 0x80);',
    test: 'test/unit/schema/packed/hour/encode-hour.test.ts',
  },
  {
    file: 'schema/packed/pack.ts',
    before: ' - bucket, true);',
    after: ' - bucket + 1, true);',
    test: 'test/unit/schema/packed/pack.test.ts',
  },
  {
    file: 'schema/packed/block.ts',
    before: 'view.setUint16(at, isShared ? 0 : count, true);',
    after: 'view.setUint16(at, count, true);',
    test: 'test/unit/schema/packed/block.test.ts',
  },
  {
    file: 'schema/packed/statistics.ts',
    before: 'if (value > max) max = value;',
    after: '',
    test: 'test/unit/schema/packed/pack.test.ts',
  },
  {
    file: 'schema/packed/statistics.ts',
    before: 'return sum + lost;',
    after: 'return sum;',
    test: 'test/unit/schema/packed/sum.test.ts',
  },
  // Rules and sizes.
  {
    file: 'schema/rules.ts',
    before: 'MAX_SAMPLES_PER_HISTORY_ROW = 65_536',
    after: 'MAX_SAMPLES_PER_HISTORY_ROW = 131_072',
    test: 'test/unit/history/packing/index.test.ts',
  },
  {
    file: 'schema/sizes.ts',
    before: 'const batchHours = devices * batchDays * DAY_HOURS;',
    after: 'const batchHours = devices * DAY_HOURS;',
    test: 'test/unit/schema/sizes.test.ts',
  },
  // From the message to its acknowledgement.
  {
    file: 'api/mqtt/acknowledgements.ts',
    before: 'while (this.#pending[0]?.isSettled) this.#pending.shift()?.acknowledge();',
    after: 'this.#pending.shift()?.acknowledge();',
    test: 'test/unit/mqtt/acknowledgements.test.ts',
  },
  {
    file: 'api/ingest/decode/message-batch.ts',
    before: 'if (ts < this.#rules.oldest) return',
    after: 'if (ts <= this.#rules.oldest) return',
    test: 'test/unit/ingest/decode/message-batch.test.ts',
  },
  {
    file: 'api/ingest/admission/byte-budget.ts',
    before: 'this.#used -= payloadBytes + MESSAGE_OVERHEAD;',
    after: 'this.#used -= payloadBytes;',
    test: 'test/unit/ingest/admission/byte-budget.test.ts',
  },
  {
    file: 'api/store/measurements/writes.ts',
    before: 'this.hour.pieces.push(...hour.pieces);',
    after: '',
    test: 'test/unit/store/measurements/pending-hours.test.ts',
  },
  {
    file: 'api/store/sending/pending-rows.ts',
    before: 'this.close();',
    after: '',
    test: 'test/unit/store/sending/pending-rows.test.ts',
  },
  {
    file: 'api/store/sending/pending-rows.ts',
    before: 'const written = this.#session.writeMerged(row);',
    after: 'const written = Promise.resolve(); void this.#session.writeMerged(row);',
    test: 'test/unit/store/sending/pending-rows.test.ts',
  },
  {
    file: 'api/store/sending/pending-rows.ts',
    before: 'if (isTimeout(failure)) row.parts = this.#divide(row);',
    after: '',
    test: 'test/unit/store/sending/request-bounds.test.ts',
  },
  {
    file: 'api/store/sending/write-merger.ts',
    before: 'if (each.inFlight < BUSY_REQUESTS || this.#isFull(each))',
    after: 'if (this.#isFull(each))',
    test: 'test/unit/store/sending/write-merger.test.ts',
  },
  {
    file: 'api/ingest/admission/index.ts',
    before: 'const result = before === undefined ? work() : before.then(work, work);',
    after: 'const result = work();',
    test: 'test/unit/ingest/admission/device-queue.test.ts',
  },
  {
    file: 'api/mqtt/embedded/reading/connection-reader.ts',
    before: 'if (packets === 0 && this.#socket.readableLength > 0) this.#askForTurn(needsRoom);',
    after: '',
    test: 'test/unit/mqtt/embedded/reading/connection-reader-wakes.test.ts',
  },
  {
    file: 'api/mqtt/embedded/reading/read-scheduler.ts',
    before: 'return this.#packets < TURN_PACKETS && ',
    after: 'return ',
    test: 'test/unit/mqtt/embedded/reading/read-scheduler.test.ts',
  },
  {
    file: 'api/mqtt/embedded/reading/read-scheduler.ts',
    before: 'return isFirst && this.#hasTime();',
    after: 'return this.#hasTime();',
    test: 'test/unit/mqtt/embedded/reading/read-scheduler.test.ts',
  },
  // Packing and reading.
  {
    file: 'api/history/packing/pack-sensor-hour.ts',
    before: 'time === b.times[at] && Object.is(a.values[at], b.values[at])',
    after: 'time === b.times[at]',
    test: 'test/unit/history/packing/index.test.ts',
  },
  {
    file: 'api/history/packing/pack-device-hour.ts',
    before: 'into.unreadable++;',
    after: '',
    test: 'test/unit/history/pack-sensor-hour.test.ts',
  },
  {
    file: 'api/history/packing/index.ts',
    before: 'Math.min(...this.#packedUntil.values())',
    after: 'Math.max(...this.#packedUntil.values())',
    test: 'test/unit/history/packing/index.test.ts',
  },
  {
    file: 'api/history/reading/hours.ts',
    before: 'exact: isExact(row) ? row.statistics : null,',
    after: 'exact: row.statistics,',
    test: 'test/unit/history/reading/hours.test.ts',
  },
  {
    file: 'api/history/reading/bins.ts',
    before: 'points.push({ ts: this.#grid.startOf(bin), min, max',
    after: 'points.push({ ts: this.#grid.startOf(bin + 1), min, max',
    test: 'test/unit/history/reading/bins.test.ts',
  },
  {
    file: 'api/store/history/writes.ts',
    before: 'days.writeLate(key, hours, lateAt),',
    after: '',
    test: 'test/unit/support/store-contract.test.ts',
  },
  {
    file: 'api/store/history/days.ts',
    before: 'return isMissing || !marked.every(isExact) ? null : marked;',
    after: 'return isMissing ? null : marked;',
    test: 'test/unit/support/store-contract.test.ts',
  },
  // Backpressure.
  {
    file: 'api/store/sending/congestion-window.ts',
    before: 'this.#size = Math.max(this.#min, this.#size * AFTER_FAILURES);',
    after: ';',
    test: 'test/unit/store/sending/congestion-window.test.ts',
  },
  {
    file: 'api/store/sending/congestion-window.ts',
    before: 'if (this.#probe && !failed) return this.#recordProbed(this.#probe, began, now);',
    after: '',
    test: 'test/unit/store/sending/congestion-window.test.ts',
  },
  // Formats and Sparkplug.
  {
    file: 'api/ingest/decode/senml.ts',
    before: 'takeBase(index, fields, base);',
    after: '',
    test: 'test/unit/ingest/decode/senml.test.ts',
  },
  {
    file: 'api/ingest/decode/json-cursor.ts',
    before: 'if (decimals === 0) return Number.NaN;',
    after: '',
    test: 'test/unit/ingest/decode/senml-fast.test.ts',
  },
  {
    file: 'api/features/sparkplug/metrics.ts',
    before: "(typeof value === 'object' ? value.low : Number(value))",
    after: 'Number(value)',
    test: 'test/unit/features/sparkplug/payload.test.ts',
  },
  {
    file: 'api/features/sparkplug/nodes.ts',
    before: 'const inOrder = this.#next === null || seq === this.#next;',
    after: 'const inOrder = true;',
    test: 'test/unit/features/sparkplug/sequence.test.ts',
  },
  // Credentials.
  {
    file: 'api/access/topic-permissions.ts',
    before: '!WILDCARD.test(device) && (speaksFor',
    after: '(speaksFor',
    test: 'test/unit/access/topic-permissions.test.ts',
  },
  {
    file: 'api/access/accounts.ts',
    before: 'if (window) window.count++;',
    after: '',
    test: 'test/unit/access/accounts.test.ts',
  },
  // Faults of the simulator.
  {
    file: 'simulator/faults/rates.ts',
    before: '!(rate >= 0 && rate <= 1)',
    after: '!(rate >= 0)',
    test: 'test/unit/simulator/flags.test.ts',
  },
  {
    file: 'simulator/faults/device-faults.ts',
    before: 'shuffled.slice(0, kept)',
    after: 'shuffled',
    test: 'test/unit/simulator/faults.test.ts',
  },
  {
    file: 'api/access/topic-permissions.ts',
    before: "if (filter.startsWith('$')) return false;",
    after: '',
    test: 'test/unit/access/topic-permissions.test.ts',
  },
  // Mistakes that no unit test noticed on 2026-11-22.
  {
    file: 'schema/rules.ts',
    before: 'LATE_MARGIN_MS = 5 * 60_000',
    after: 'LATE_MARGIN_MS = 0',
    test: 'test/unit/schema/rules.test.ts',
  },
  {
    file: 'api/history/packing/passes.ts',
    before: 'series, readFrom, found.unreadable))\n          written.push(sensor);',
    after: 'series, await clock.now(), found.unreadable))\n          written.push(sensor);',
    test: 'test/unit/history/packer.test.ts',
  },
  {
    file: 'api/history/packing/packer.ts',
    before: 'return packedUntil >= day + DAY_MS && now',
    after: 'return now',
    test: 'test/unit/history/packer.test.ts',
  },
  {
    file: 'api/ingest/late-samples.ts',
    before: 'await days.note(device, late);',
    after: 'void days.note(device, late);',
    test: 'test/unit/mqtt/acknowledgement-order.test.ts',
  },
  {
    file: 'api/store/sending/congestion-window.ts',
    before: '.sort()',
    after: '',
    test: 'test/unit/store/sending/median.test.ts',
  },
  {
    file: 'api/access/http/sessions.ts',
    before: "path: '/',\n  secure,",
    after: "path: '/',\n  secure: false,",
    test: 'test/unit/http/access/cookies.test.ts',
  },
  {
    file: 'api/features/sparkplug/definition-book.ts',
    before: 'before?.text === definitions.text && ',
    after: 'false && ',
    test: 'test/unit/features/sparkplug/definition-book.test.ts',
  },
  {
    file: 'api/features/credentials/credential-service.ts',
    before: 'if (result && wasValid) await onChange(result.deviceId);',
    after: '',
    test: 'test/unit/features/credentials/credential-updater.test.ts',
  },
  {
    file: 'simulator/faults/device-faults.ts',
    before: 'Math.ceil(shuffled.length / 2)',
    after: 'Math.floor(shuffled.length / 2)',
    test: 'test/unit/simulator/faults-exact.test.ts',
  },
  {
    file: 'simulator/verify/ledger-parts.ts',
    before: 'grown.set(this.#bytes);',
    after: '',
    test: 'test/unit/simulator/verify/bitmap.test.ts',
  },
  {
    file: 'simulator/verify/sensor.ts',
    before: 'strange.length > 0 || beaten',
    after: 'strange.length > 0',
    test: 'test/unit/simulator/verify/compare.test.ts',
  },
];
