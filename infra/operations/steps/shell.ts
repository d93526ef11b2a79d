/** Words that a POSIX shell reads as one word without quotes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** @param {string} word @returns {string} the word, quoted for a POSIX shell if necessary */
export function quote(word) {
  if (PLAIN.test(word)) return word;
  // CQL text contains single quotes.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** @param {string[]} all @returns {string} a command line of these words, quoted if necessary */
export const command = (...all) => all.map(quote).join(' ');
