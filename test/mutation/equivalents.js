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
