/**
 * Mutants that no test can notice, because the program does the same with them, each with the reason. An entry names a mutant by its file
 * and by the text of its lines without and with the mistake, so that it stays valid when lines move. `npm run test:mutation` prints
 * survivors in the same form.
 *
 * @typedef {{ file: string, before: string, after: string, reason: string }} Equivalent
 */

/** @import { Mutant } from './mutants.js' */

/** @type {Equivalent[]} */
export const EQUIVALENTS = [
  {
    file: 'schema/packed/hour/forms.js',
    before: 'for (let i = 0; i < hi.length; i++) {',
    after: 'for (let i = 0; i <= hi.length; i++) {',
    reason: 'beyond the end of a typed array nothing is written',
  },
  {
    file: 'schema/packed/hour/pack-hour.js',
    before:
      'return packed.length > SAMPLE_BYTES * count ? packSamples(bucket, times, values, from, to) : packed;',
    after:
      'return packed.length >= SAMPLE_BYTES * count ? packSamples(bucket, times, values, from, to) : packed;',
    reason: 'where both versions are equally long, either may be stored: both read back the same',
  },
  {
    file: 'schema/packed/hour/times.js',
    before: 'const { clock, columns } = gappy.estimate < even.estimate ? gappy : even;',
    after: 'const { clock, columns } = gappy.estimate <= even.estimate ? gappy : even;',
    reason: 'where both are estimated equally long, either may be stored: both read back the same',
  },
  {
    file: 'schema/packed/series.js',
    before: 'if (filled.length === 1 && only) return sortMerge(only.times, only.values);',
    after: 'if (false) return sortMerge(only.times, only.values);',
    reason: 'the way of many series has the same result for one; this saves the copy',
  },
  ...[
    'filled;',
    ';',
    'filled.sort((a, b) => /** @type {number} */ (a.times[0]) + /** @type {number} */ (b.times[0]));',
  ].map((after) => ({
    file: 'schema/packed/series.js',
    before: 'filled.sort((a, b) => /** @type {number} */ (a.times[0]) - /** @type {number} */ (b.times[0]));',
    after,
    reason: 'sortMerge sorts whatever it gets; this order only makes it fast',
  })),
  {
    file: 'schema/packed/series.js',
    before: 'for (let i = 0; i < times.length; i++) {',
    after: 'for (let i = 0; i <= times.length; i++) {',
    reason: 'the element behind the end is undefined, which is not less than or equal to any number',
  },
  {
    file: 'schema/packed/hour/integers.js',
    before: 'for (let i = 0; i < hi.length; i++) {',
    after: 'for (let i = 0; i <= hi.length; i++) {',
    reason:
      'beyond the end of a typed array nothing is written; the loop of codesOf has the same text, and a test notices it there',
  },
  {
    file: 'schema/packed/hour/forms.js',
    before: 'for (let i = 0; i < values.length; i++) {',
    after: 'for (let i = 0; i <= values.length; i++) {',
    reason: 'beyond the end of a typed array nothing is written',
  },
  {
    file: 'schema/packed/hour/pack-hour.js',
    before: 'for (let i = 0; i < count; i++) offsets[i] = /** @type {number} */ (times[from + i]) - bucket;',
    after: 'for (let i = 0; i <= count; i++) offsets[i] = /** @type {number} */ (times[from + i]) - bucket;',
    reason: 'beyond the end of a typed array nothing is written',
  },
  {
    file: 'schema/packed/hour/bytes.js',
    before: 'if (shift < 32) low |= bits << shift;',
    after: 'if (shift <= 32) low |= bits << shift;',
    reason: 'a shift is a multiple of 7, so it is never 32',
  },
  {
    file: 'schema/packed/hour/bytes.js',
    before: 'if (shift > 32) high |= bits << (shift - 32);',
    after: 'if (shift >= 32) high |= bits << (shift - 32);',
    reason: 'a shift is a multiple of 7, so it is never 32',
  },
  {
    file: 'schema/packed/hour/bytes.js',
    before: 'for (let shift = 0; shift < 64; shift += 7) {',
    after: 'for (let shift = 0; shift <= 64; shift += 7) {',
    reason: 'a shift is a multiple of 7, so it is never 64',
  },
  {
    file: 'schema/packed/hour/column.js',
    before: 'if (best.planes.length === 0) return best;',
    after: 'if (false) return best;',
    reason: 'a column without planes takes no bytes, so no other one takes fewer: this only saves time',
  },
  {
    file: 'schema/packed/block.js',
    before: 'let room = MAX_BLOCK_BYTES - 1;',
    after: 'let room = MAX_BLOCK_BYTES + 1;',
    reason: 'sizes of pieces are multiples of 6 bytes: as many fit',
  },
  {
    file: 'schema/packed/block.js',
    before: 'let room = MAX_BLOCK_BYTES - 1;',
    after: 'let room = MAX_BLOCK_BYTES - 2;',
    reason: 'sizes of pieces are multiples of 6 bytes: as many fit',
  },
  {
    file: 'schema/packed/block.js',
    before: 'room = MAX_BLOCK_BYTES - 1;',
    after: 'room = MAX_BLOCK_BYTES + 1;',
    reason: 'sizes of pieces are multiples of 6 bytes: as many fit',
  },
  {
    file: 'schema/packed/block.js',
    before: 'room = MAX_BLOCK_BYTES - 1;',
    after: 'room = MAX_BLOCK_BYTES - 2;',
    reason: 'sizes of pieces are multiples of 6 bytes: as many fit',
  },
  {
    file: 'schema/packed/block.js',
    before: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    after: 'if ((!whole) && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    reason: 'an empty block has room for MIN_CUT samples',
  },
  {
    file: 'schema/packed/block.js',
    before: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    after: 'if (!whole && block.length >= 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    reason: 'an empty block has room for MIN_CUT samples',
  },
  {
    file: 'schema/packed/block.js',
    before: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    after: 'if ((block.length > 0) && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    reason: 'where the whole piece fits, no fewer samples fit than it has',
  },
  {
    file: 'schema/packed/block.js',
    before: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    after: 'if ((fitting < Math.min(piece.to - from, MIN_CUT))) {',
    reason:
      'an empty block has room for MIN_CUT samples, and where the whole piece fits, no fewer samples fit than it has',
  },
  {
    file: 'schema/packed/block.js',
    before: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {',
    after: 'if (!whole && block.length > 0 && fitting < Math.min(piece.to + from, MIN_CUT)) {',
    reason:
      'a piece that does not fit whole leaves no less for its end than it has, or begins an empty block',
  },
  {
    file: 'schema/packed/block.js',
    before: 'let timesAt = 0;',
    after: 'let timesAt = 1;',
    reason: 'it is set before it is read: the first sensor must have times',
  },
  {
    file: 'schema/packed/series.js',
    before: 'let inConflict = false;',
    after: 'let inConflict = true;',
    reason: 'the first sample sets it to false',
  },
  {
    file: 'schema/packed/series.js',
    before: 'filled.sort((a, b) => /** @type {number} */ (a.times[0]) - /** @type {number} */ (b.times[0]));',
    after: 'filled.sort((a, b) => /** @type {number} */ (a.times[1]) - /** @type {number} */ (b.times[0]));',
    reason: 'the order of the series only saves time: the merge sorts',
  },
  {
    file: 'schema/packed/statistics.js',
    before: 'lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;',
    after: 'lost += Math.abs(sum) > Math.abs(value) ? sum - next + value : value - next + sum;',
    reason: 'of two equal magnitudes neither loses a digit',
  },
  {
    file: 'schema/packed/hour/clock.js',
    before: 'for (let i = 0; i < missed.length; i++) {',
    after: 'for (let i = 0; i <= missed.length; i++) {',
    reason: 'beyond the end of a typed array nothing is written',
  },
  {
    file: 'schema/packed/hour/clock.js',
    before: 'for (let i = 1; i < offsets.length; i++) {',
    after: 'for (let i = 1; i <= offsets.length; i++) {',
    reason: 'beyond the end of a typed array nothing is written',
  },
  {
    file: 'schema/packed/hour/plane.js',
    before: 'const counts = new Uint32Array(256);',
    after: 'const counts = new Uint32Array(512);',
    reason: 'counts of zero are skipped',
  },
  {
    file: 'api/history/packing/index.js',
    before: 'if (now - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;',
    after: 'if (now - (reportedAt.get(text)) < REPORT_EVERY_MS) return;',
    reason: 'before the first report the difference is NaN, which is not less than any number',
  },
  {
    file: 'api/history/reading/samples.js',
    before: 'for (const hour of hours) days.get(dayOf(hour.hour))?.push(hour);',
    after: 'for (const hour of hours) days.get(dayOf(hour.hour))?.unshift(hour);',
    reason: 'the series are put in the order of the hours asked for',
  },
  ...['if (true) yield group;', 'if (group.length >= 0) yield group;'].map((after) => ({
    file: 'api/history/reading/samples.js',
    before: 'if (group.length > 0) yield group;',
    after,
    reason: 'a group without hours reads nothing and yields nothing',
  })),
  {
    file: 'api/history/reading/bins.js',
    before: 'for (; at < times.length && /** @type {number} */ (times[at]) < end; at++, count++) {',
    after: 'for (; at <= times.length && /** @type {number} */ (times[at]) < end; at++, count++) {',
    reason: 'the element behind the end is undefined, which is not less than any number',
  },
  {
    file: 'api/history/reading/bins.js',
    before: 'const SCALE = 2 ** 64;',
    after: 'const SCALE = 2 ** 128;',
    reason: 'values of 2 ** 960 and beyond lose no bit when a power of two divides them',
  },
  ...['group', 'first'].map((known) => ({
    file: 'api/history/reading/aligned.js',
    before: 'if (group && first && groupOf(first) === groupOf(sensor)) {',
    after: `if (${known} && groupOf(first) === groupOf(sensor)) {`,
    reason: 'a group has one sensor at least, so it is there exactly if its first sensor is',
  })),
  {
    file: 'api/ingest/decode/message-batch.js',
    before:
      'const samples = this.#latest && sensor === this.#latestName ? this.#latest : this.sensors.get(sensor);',
    after: 'const samples = false ? this.#latest : this.sensors.get(sensor);',
    reason: 'the map has the same samples: this only saves the search in it',
  },
  {
    file: 'api/ingest/decode/message-batch.js',
    before: "if (typeof ts !== 'number') return null;",
    after: 'if (false) return null;',
    reason: 'Number.isFinite and Number.isInteger are false for anything but a number',
  },
  {
    file: 'api/ingest/decode/index.js',
    before: 'batch.refused.push(refusalOf(error.code, error));',
    after: 'batch.refused.unshift(refusalOf(error.code, error));',
    reason: 'the list is empty here',
  },
  {
    file: 'api/ingest/decode/index.js',
    before: 'return first === undefined || (first >= 0x20 && first < 0x7f) ? readJson : undefined;',
    after: 'return first === undefined || (first > 0x20 && first < 0x7f) ? readJson : undefined;',
    reason: 'the first byte is never a space: the search skips them',
  },
  {
    file: 'api/ingest/decode/json-cursor.js',
    before: 'if (!this.pass(QUOTE)) return -1;',
    after: 'if (!this.pass(QUOTE)) return -2;',
    reason: 'callers only ask whether it is negative',
  },
  {
    file: 'api/ingest/decode/json-cursor.js',
    before: 'if (digits > EXACT_DIGITS) return this.#longNumber(from, at);',
    after: 'if (true) return this.#longNumber(from, at);',
    reason: 'the engine reads the same double: the division only saves time',
  },
  {
    file: 'api/ingest/decode/json-cursor.js',
    before: 'const magnitude = decimals === 0 ? whole : whole / /** @type {number} */ (POWERS[decimals]);',
    after: 'const magnitude = false ? whole : whole / /** @type {number} */ (POWERS[decimals]);',
    reason: '10 ** 0 is 1, and a number divided by 1 is itself',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: 'if (!first || ts === undefined) return [];',
    after: 'if ((!first)) return [];',
    reason: 'a series in this list has a sample, so it has a time: the operand is for the types',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: 'const bad = poison === null ? undefined : POISON[poison];',
    after: 'const bad = false ? undefined : POISON[poison];',
    reason: 'a list has no element null',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: "if (this.#happens('duplicate')) messages.push({ series, payload });",
    after: "if (this.#happens('duplicate')) messages.unshift({ series, payload });",
    reason: 'the only message in the list is the same',
  },
  {
    file: 'simulator/faults/device-faults.js',
    before: 'Math.round(random.between(SKEW_MS.least, SKEW_MS.most)) * (random.uniform() < 0.5 ? -1 : 1);',
    after: 'Math.round(random.between(SKEW_MS.least, SKEW_MS.most)) / (random.uniform() < 0.5 ? -1 : 1);',
    reason: 'a number divided by 1 or -1 is its product with them',
  },
  {
    file: 'api/ingest/decode/sensor-map.js',
    before: 'this.#time = this.#ts === undefined ? null : this.#batch.timeOf(this.#ts);',
    after: 'this.#time = false ? null : this.#batch.timeOf(this.#ts);',
    reason: 'timeOf makes null of undefined too',
  },
  {
    file: 'api/ingest/decode/senml-cbor.js',
    before: "[1, 'u'],",
    after: "[2, 'u'],",
    reason: 'units are not read, and a label without a name is skipped as a unit is',
  },
  {
    file: 'api/ingest/decode/line-parser.js',
    before: 'const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);',
    after: 'const POWERS = Array.from({ length: EXACT_DIGITS + 2 }, (_, exponent) => 10 ** exponent);',
    reason: 'one power more than is read',
  },
  {
    file: 'api/ingest/decode/line-parser.js',
    before: 'const MAX_KNOWN_SERIES = 10_000;',
    after: 'const MAX_KNOWN_SERIES = 20000;',
    reason: 'series that are not remembered are read as well: the limit only bounds memory',
  },
  {
    file: 'api/ingest/decode/line-parser.js',
    before: 'const MAX_KNOWN_FIELDS = 1000;',
    after: 'const MAX_KNOWN_FIELDS = 2000;',
    reason: 'fields that are not remembered are read as well: the limit only bounds memory',
  },
  {
    file: 'api/ingest/decode/message-batch.js',
    before: 'unitMs !== 1 && ts / unitMs >= oldest && ts / unitMs <= newest',
    after: 'unitMs !== 2 && ts / unitMs >= oldest && ts / unitMs <= newest',
    reason: 'in milliseconds the time is after the newest here, so the last operand is false',
  },
  {
    file: 'api/ingest/decode/message-batch.js',
    before: 'unitMs !== 1 && ts / unitMs >= oldest && ts / unitMs <= newest',
    after: '(ts / unitMs >= oldest) && ts / unitMs <= newest',
    reason: 'in milliseconds the time is after the newest here, so the last operand is false',
  },
  {
    file: 'api/store/sending/congestion-window.js',
    before: 'probe.answers.push(now - began);',
    after: 'probe.answers.unshift(now - began);',
    reason: 'only the median and the number of the answers are read',
  },
  {
    file: 'api/store/sending/congestion-window.js',
    before: 'else this.#answers.push(now - began);',
    after: 'else this.#answers.unshift(now - began);',
    reason: 'only the median and the number of the answers are read',
  },
  {
    file: 'api/ingest/late-samples.js',
    before: 'if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {',
    after: 'if ((noticed !== this.#hour)) {',
    reason: 'a note that is written again changes nothing: the limit only bounds memory',
  },
  {
    file: 'api/ingest/late-samples.js',
    before: 'if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {',
    after: 'if (noticed !== this.#hour || this.#written.size >= MAX_REMEMBERED) {',
    reason: 'a note that is written again changes nothing: the limit only bounds memory',
  },
  {
    file: 'api/ingest/late-samples.js',
    before: '#hour = 0;',
    after: '#hour = 1;',
    reason: 'no message is from the first hour of 1970, so the first note sets it',
  },
  {
    file: 'api/access/credentials/accounts.js',
    before: "const UNKNOWN = { address: '' };",
    after: 'const UNKNOWN = { };',
    reason: 'clients without an address are counted together, under either key',
  },
  {
    file: 'api/access/credentials/permissions.js',
    before: "return isOwn(account, filter.slice(OWN_TOPICS.length).split('/', 1)[0] ?? '');",
    after: "return isOwn(account, filter.slice(OWN_TOPICS.length).split('/', 2)[0] ?? '');",
    reason: 'the first level is the same, however many follow: the limit only saves time',
  },
  {
    file: 'api/access/credentials/permissions.js',
    before: "!WILDCARD.test(device) && (speaksFor.has(device) || ids.has(identifyDevice(device)?.id ?? ''));",
    after: "!WILDCARD.test(device) && (ids.has(identifyDevice(device)?.id ?? ''));",
    reason: 'ids has the id of every text in speaksFor: the first lookup only saves time',
  },
  {
    file: 'api/access/credentials/secret.js',
    before: 'return timingSafeEqual(given, expected) && known !== null;',
    after: 'return timingSafeEqual(given, expected);',
    reason: 'no known secret has 64 zeros as its hash',
  },
  ...['group', 'node'].map((operand) => ({
    file: 'api/commands/credentials/mosquitto.js',
    before: 'if (group && node) return topicsOfNode(group, node);',
    after: `if (${operand}) return topicsOfNode(group, node);`,
    reason: 'the pattern matches both levels or neither',
  })),
  ...['(before?.mode)', '(before?.mode ?? 1)'].map((mode) => ({
    file: 'api/commands/credentials/mosquitto.js',
    before: 'const mode = FOR_OWNER | ((before?.mode ?? 0) & GROUP_READS);',
    after: `const mode = FOR_OWNER | (${mode} & GROUP_READS);`,
    reason: 'neither undefined nor 1 has the bit of the group',
  })),
  ...['', ' ?? 1'].map((end) => ({
    file: 'api/access/http/rates.js',
    before: 'const seconds = Math.ceil(((until?.getTime() ?? 0) - Date.now()) / 1000);',
    after: `const seconds = Math.ceil(((until?.getTime()${end}) - Date.now()) / 1000);`,
    reason: 'the store of the library knows the end of each window',
  })),
  {
    file: 'api/access/http/rates.js',
    before: "/^(::ffff:)?127\\.|^::1$/.test(req.ip ?? '') && req.headers['x-forwarded-for'] === undefined;",
    after: "/^(::ffff:)?127\\.|^::1$/.test(req.ip) && req.headers['x-forwarded-for'] === undefined;",
    reason: 'neither an empty address nor the text undefined is an address of loopback',
  },
  {
    file: 'simulator/verify/device.js',
    before: 'const actual = { ts: row?.ts ?? null, value: row?.value ?? null };',
    after: 'const actual = { ts: row?.ts ?? null, value: row?.value };',
    reason: 'without a row its time is null, which decides alone',
  },
  {
    file: 'simulator/verify/parts.js',
    before: 'const grown = new Uint8Array(Math.max(at + 1, 2 * this.#bytes.length));',
    after: 'const grown = new Uint8Array(Math.max(at + 1, 3 * this.#bytes.length));',
    reason: 'the set has the same numbers, however much it grows at once',
  },
  {
    file: 'simulator/verify/parts.js',
    before: 'return ((this.#bytes[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;',
    after: 'return ((this.#bytes[number >>> 3]) & (1 << (number & 7))) !== 0;',
    reason: 'undefined has no bits, as 0',
  },
  {
    file: 'simulator/verify/topic.js',
    before: '...(partBytes === undefined ? {} : { partBytes }),',
    after: '...(true ? {} : { partBytes }),',
    reason: 'the size of the parts decides how much memory is used, not the result',
  },
];

/**
 * @param {Mutant[]} mutants
 * @param {Equivalent[]} [equivalents]
 * @returns {{ reasonOf: (mutant: Mutant) => string | undefined, stale: Equivalent[] }} `stale`: entries about
 *   these files that name no mutant any more
 */
export function matchEquivalents(mutants, equivalents = EQUIVALENTS) {
  const keyOf = (/** @type {{ file: string, before: string, after: string }} */ { file, before, after }) =>
    JSON.stringify([file, before, after]);
  const reasons = new Map(equivalents.map((entry) => [keyOf(entry), entry.reason]));
  const files = new Set(mutants.map(({ file }) => file));
  const keys = new Set(mutants.map(keyOf));
  return {
    reasonOf: (mutant) => reasons.get(keyOf(mutant)),
    stale: equivalents.filter((entry) => files.has(entry.file) && !keys.has(keyOf(entry))),
  };
}
