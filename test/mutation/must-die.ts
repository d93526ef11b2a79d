import type { KnownMistake } from './known-mistakes.ts';

/**
 * Mistakes that the gate makes: source, unit test that must notice, and text with its replacement. The text occurs exactly once in the
 * file. When the code changes, name the new code here, with a mistake of the same kind; check it with `npm run test:mutation`.
 */
const MISTAKES: Record<string, Record<string, Record<string, string>>> = {
  'schema/packed/hour/bytes.ts': {
    'schema/packed/hour/encode-hour': {
      'bytes.push((lo & 0x7f) | 0x80);': 'bytes.unshift((lo & 0x7f) | 0x80);',
    },
  },
  'schema/packed/pack.ts': { 'schema/packed/pack': { ' - bucket, true);': ' - bucket + 1, true);' } },
  'schema/packed/block.ts': {
    'schema/packed/block': {
      'view.setUint16(at, isShared ? 0 : count, true);': 'view.setUint16(at, count, true);',
    },
  },
  'schema/packed/statistics.ts': {
    'schema/packed/pack': { 'if (value > max) max = value;': '' },
    'schema/packed/sum': { 'return sum + lost;': 'return sum;' },
  },
  'schema/rules.ts': {
    'history/packing/index': {
      'MAX_SAMPLES_PER_HISTORY_ROW = 65_536': 'MAX_SAMPLES_PER_HISTORY_ROW = 131_072',
    },
    'schema/rules': { 'LATE_MARGIN_MS = 5 * 60_000': 'LATE_MARGIN_MS = 0' },
  },
  'schema/sizes.ts': {
    'schema/sizes': {
      'const batchHours = devices * batchDays * DAY_HOURS;': 'const batchHours = devices * DAY_HOURS;',
    },
  },
  'api/mqtt/acknowledgements.ts': {
    'mqtt/acknowledgements': {
      'while (this.#pending[0]?.isSettled) this.#pending.shift()?.acknowledge();':
        'this.#pending.shift()?.acknowledge();',
    },
  },
  'api/ingest/decode/message-batch.ts': {
    'ingest/decode/message-batch': {
      'if (ts < this.#rules.oldest) return': 'if (ts <= this.#rules.oldest) return',
    },
  },
  'api/ingest/admission/byte-budget.ts': {
    'ingest/admission/byte-budget': {
      'this.#used -= payloadBytes + MESSAGE_OVERHEAD;': 'this.#used -= payloadBytes;',
    },
  },
  'api/store/measurements/writes.ts': {
    'store/measurements/pending-hours': { 'this.hour.pieces.push(...hour.pieces);': '' },
  },
  'api/store/sending/pending-rows.ts': {
    'store/sending/pending-rows': {
      'this.close();': '',
      'const written = this.#session.writeMerged(row);':
        'const written = Promise.resolve(); void this.#session.writeMerged(row);',
    },
    'store/sending/request-bounds': { 'if (isTimeout(failure)) row.parts = this.#divide(row);': '' },
  },
  'api/store/sending/write-merger.ts': {
    'store/sending/write-merger': {
      'if (each.inFlight < BUSY_REQUESTS || this.#isFull(each))': 'if (this.#isFull(each))',
    },
  },
  'api/ingest/admission/index.ts': {
    'ingest/admission/device-queue': {
      'const result = before === undefined ? work() : before.then(work, work);': 'const result = work();',
    },
  },
  'api/mqtt/embedded/reading/connection-reader.ts': {
    'mqtt/embedded/reading/connection-reader-wakes': {
      'if (packets === 0 && this.#socket.readableLength > 0) this.#askForTurn(needsRoom);': '',
    },
  },
  'api/mqtt/embedded/reading/read-scheduler.ts': {
    'mqtt/embedded/reading/read-scheduler': {
      'return this.#packets < TURN_PACKETS && ': 'return ',
      'return isFirst && this.#hasTime();': 'return this.#hasTime();',
    },
  },
  'api/history/packing/pack-sensor-hour.ts': {
    'history/packing/index': {
      'time === b.times[at] && Object.is(a.values[at], b.values[at])': 'time === b.times[at]',
    },
    'history/pack-sensor-hour': {
      'await steps.run(() => store.writeSamples(key, [{ hour: key.hour, samples }]));\n    }\n  }':
        'void steps.run(() => store.writeSamples(key, [{ hour: key.hour, samples }]));\n    }\n  }',
    },
  },
  'api/history/packing/pack-device-hour.ts': { 'history/pack-sensor-hour': { 'into.unreadable++;': '' } },
  'api/history/packing/index.ts': {
    'history/packing/index': {
      'Math.min(...this.#packedUntil.values())': 'Math.max(...this.#packedUntil.values())',
    },
  },
  'api/history/reading/hours.ts': {
    'history/reading/hours': { 'exact: isExact(row) ? row.statistics : null,': 'exact: row.statistics,' },
  },
  'api/history/reading/bins.ts': {
    'history/reading/bins': {
      'points.push({ ts: this.#grid.startOf(bin), min, max':
        'points.push({ ts: this.#grid.startOf(bin + 1), min, max',
    },
  },
  'api/store/history/writes.ts': { 'support/store-contract': { 'days.writeLate(key, hours, lateAt),': '' } },
  'api/store/history/days.ts': {
    'support/store-contract': {
      'return isMissing || !marked.every(isExact) ? null : marked;': 'return isMissing ? null : marked;',
    },
  },
  'api/store/sending/congestion-window.ts': {
    'store/sending/congestion-window': {
      'this.#size = Math.max(this.#min, this.#size * AFTER_FAILURES);': ';',
      'if (this.#probe && !failed) return this.#recordProbed(this.#probe, began, now);': '',
    },
    'store/sending/median': { '.sort()': '' },
  },
  'api/ingest/decode/senml.ts': { 'ingest/decode/senml': { 'takeBase(index, fields, base);': '' } },
  'api/ingest/decode/json-cursor.ts': {
    'ingest/decode/senml-fast': { 'if (decimals === 0) return Number.NaN;': '' },
  },
  'api/features/sparkplug/metrics.ts': {
    'features/sparkplug/payload': {
      "(typeof value === 'object' ? value.low : Number(value))": 'Number(value)',
    },
  },
  'api/features/sparkplug/nodes.ts': {
    'features/sparkplug/sequence': {
      'const inOrder = this.#next === null || seq === this.#next;': 'const inOrder = true;',
    },
  },
  'api/access/topic-permissions.ts': {
    'access/topic-permissions': {
      '!WILDCARD.test(device) && (speaksFor': '(speaksFor',
      "if (filter.startsWith('$')) return false;": '',
    },
  },
  'api/access/accounts.ts': { 'access/accounts': { 'if (window) window.count++;': '' } },
  'simulator/faults/rates.ts': { 'simulator/flags': { '!(rate >= 0 && rate <= 1)': '!(rate >= 0)' } },
  'simulator/faults/device-faults.ts': {
    'simulator/faults': { 'shuffled.slice(0, kept)': 'shuffled' },
    'simulator/faults-exact': { 'Math.ceil(shuffled.length / 2)': 'Math.floor(shuffled.length / 2)' },
  },
  'api/ingest/journal/takeover.ts': {
    'ingest/journal/journal': {
      'await this.#writeRows(store.segment(run, segment));\n      await store.removeSegment(run, segment);':
        'await store.removeSegment(run, segment);\n      await this.#writeRows(store.segment(run, segment));',
    },
  },
  'api/ingest/journal/index.ts': {
    'ingest/journal/journal': {
      'if (this.#isEnding || !run.isFresh(now)) return': 'if (this.#isEnding) return',
    },
  },
  'api/ingest/handlers/measurement-store.ts': {
    'ingest/journal/journal': {
      'const written = this.#writeInOrder(device, series, null, Date.now()).catch((error) =>\n      this.#keepRefused(device, series, error),':
        'const written = this.#writeInOrder(device, series, null, Date.now()).catch(() => null,',
    },
  },
  'api/history/packing/passes.ts': {
    'history/packer': {
      'series, readFrom, found.unreadable))\n          written.push(sensor);':
        'series, await clock.now(), found.unreadable))\n          written.push(sensor);',
    },
  },
  'api/history/packing/packer.ts': {
    'history/packer': { 'return packedUntil >= day + DAY_MS && now': 'return now' },
  },
  'api/ingest/late-samples.ts': {
    'mqtt/acknowledgement-order': { 'await days.note(device, late);': 'void days.note(device, late);' },
    'history/simulation': {
      'await retry.run(() => store.writeSamples(key, rows));': '',
      'await retry.run(() => store.writeLate(key, late, at));': '',
      'await forEachConcurrently(SENSORS_AT_ONCE, sensors':
        'void forEachConcurrently(SENSORS_AT_ONCE, sensors',
    },
  },
  'api/access/http/sessions.ts': {
    'http/access/cookies': { "path: '/',\n  secure,": "path: '/',\n  secure: false," },
  },
  'api/features/sparkplug/definition-book.ts': {
    'features/sparkplug/definition-book': { 'before?.text === definitions.text && ': 'false && ' },
  },
  'api/features/credentials/credential-service.ts': {
    'features/credentials/credential-updater': {
      'if (result && wasValid) await onChange(result.deviceId);': '',
    },
  },
  'simulator/verify/ledger-parts.ts': { 'simulator/verify/bitmap': { 'grown.set(this.#bytes);': '' } },
  'simulator/verify/sensor.ts': {
    'simulator/verify/compare': { 'strange.length > 0 || beaten': 'strange.length > 0' },
  },
};

export const MUST_DIE: KnownMistake[] = Object.entries(MISTAKES).flatMap(([file, tests]) =>
  Object.entries(tests).flatMap(([test, texts]) =>
    Object.entries(texts).map(([before, after]) => ({
      file,
      before,
      after,
      test: `test/unit/${test}.test.ts`,
    })),
  ),
);
