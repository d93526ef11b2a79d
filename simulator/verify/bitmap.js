const FIRST_BYTES = 1024;

/** A set of whole numbers from 0 that grows: a bit each, so that a hundred million messages are 12 MB. */
export function createBitmap() {
  let bytes = new Uint8Array(FIRST_BYTES);
  return {
    /** @param {number} number */
    add(number) {
      const at = number >>> 3;
      if (at >= bytes.length) {
        const grown = new Uint8Array(Math.max(at + 1, 2 * bytes.length));
        grown.set(bytes);
        bytes = grown;
      }
      bytes[at] = /** @type {number} */ (bytes[at]) | (1 << (number & 7));
    },

    /** @param {number} number */
    has: (number) => ((bytes[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0,
  };
}

/** @typedef {ReturnType<typeof createBitmap>} Bitmap */
