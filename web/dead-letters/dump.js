/** @param {Iterable<number>} bytes @param {string} [between] @returns {string} two digits each */
export const hexOf = (bytes, between = '') =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(between);

/**
 * @param {Uint8Array} bytes
 * @param {number} width bytes a line
 * @returns {string} where they stand, in hexadecimal, and as ASCII where that can be seen
 */
export function dumpOf(bytes, width) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const line = [...bytes.subarray(at, at + width)];
    const hex = hexOf(line, ' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(3 * width - 1)}  ${text}`);
  }
  return lines.join('\n');
}
