const STEPS = [
  { from: 1e18, prefix: 'E' },
  { from: 1e15, prefix: 'P' },
  { from: 1e12, prefix: 'T' },
  { from: 1e9, prefix: 'G' },
  { from: 1e6, prefix: 'M' },
  { from: 1e3, prefix: 'k' },
];

/** @param {number} bytes @returns {string} `48 kB`, `1.7 TB` */
export function bytesText(bytes) {
  const { from, prefix } = STEPS.find((step) => bytes >= step.from) ?? { from: 1, prefix: '' };
  return `${short(bytes / from)} ${prefix}B`;
}

/** @param {number} count @returns {string} `960`, `17 thousand`, `2.6 billion` */
export function countText(count) {
  const words = /** @type {const} */ ([
    [1e12, ' trillion'],
    [1e9, ' billion'],
    [1e6, ' million'],
    [1e4, ' thousand'],
  ]);
  const [from, word] = words.find(([least]) => count >= least) ?? [1, ''];
  return `${short(count / (from === 1e4 ? 1e3 : from))}${word}`;
}

/** @param {number} number @returns {string} of two digits, or whole */
const short = (number) =>
  number >= 1000
    ? Math.round(number).toLocaleString('en')
    : String(Number(number.toPrecision(number < 100 ? 2 : 3)));
