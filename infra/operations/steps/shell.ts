/** Words that a POSIX shell reads as one word without quotes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** @returns the word, quoted for a POSIX shell if necessary */
export function quote(word: string): string {
  if (PLAIN.test(word)) return word;
  // CQL text contains single quotes.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** @returns a command line of these words, quoted if necessary */
export const command = (...all: string[]): string => all.map(quote).join(' ');
