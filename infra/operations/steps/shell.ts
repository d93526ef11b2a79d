/** POSIX shells read these without quotes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quote(word: string): string {
  if (PLAIN.test(word)) return word;
  // CQL text contains single quotes.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

export const command = (...all: string[]): string => all.map(quote).join(' ');
