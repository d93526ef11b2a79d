/** Words that a POSIX shell takes as one without quotes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** @param {string} word @returns {string} as a POSIX shell reads it back */
export function quote(word) {
  if (PLAIN.test(word)) return word;
  // CQL text contains single quotes.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** @param {string[]} all @returns {string} a command of these words */
export const command = (...all) => all.map(quote).join(' ');
