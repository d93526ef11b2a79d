import { FILE_OPTIONS } from '../files.ts';

/** Shells read these without quotes. A word that begins with `#` is a comment, and one that begins with `=` or `~` is expanded. */
const PLAIN = /^[\w./:+-][\w.,/:+%@=#-]*$/;

/** As a word of a POSIX shell. */
export const shellQuoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Without a value, `…` stands for it. */
export const flagText = (option: string, value?: string): string =>
  `--${option.replaceAll('_', '-')} ${value === undefined ? '…' : shellQuoted(value)}`;

const OPTION = `(?:device|${Object.keys(FILE_OPTIONS).join('|')})`;

/** An option as rules and errors name it, such as `decimal=comma&thousands=point`. `…` stands for a value. */
const NAMED = new RegExp(`\`(${OPTION}=[^\`]*)\``, 'g');

/** Replaces the options that a rule or an error names by flags, such as `--decimal comma --thousands point`. */
export const withFlags = (text: string): string =>
  text.replaceAll(NAMED, (_, named: string) => {
    const options = named.split(new RegExp(`&(?=${OPTION}=)`));
    const flags = options.map((option) => {
      const [name = ''] = option.split('=', 1);
      const value = option.slice(name.length + 1);
      return flagText(name, value === '…' ? undefined : value);
    });
    return `\`${flags.join(' ')}\``;
  });
