/** @param {Record<string, number>} codes @returns {string} `2 not_numeric, 1 too_old` */
export const codesText = (codes) =>
  Object.entries(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ');

export const NO_SUCH_LETTER = 'there is no such dead letter, or none any more';
