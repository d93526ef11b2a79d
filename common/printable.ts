/** Replaces control characters: untrusted text of a device must not move the cursor of a terminal or break a line. */
export const printable = (text: string) => text.replaceAll(/\p{C}/gu, '?');

/** Maximum number of characters of a topic or a device name in a line of output; the rest is cut off. */
const LINE_LENGTH = 80;

/** @returns printable text that is short enough for one line */
export const shortened = (text: string): string =>
  printable(text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text);
