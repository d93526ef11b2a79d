/** Untrusted text of a device must not move the cursor of a terminal or break a line. */
export const printable = (text: string) => text.replaceAll(/\p{C}/gu, '?');

const LINE_LENGTH = 80;

export const shortened = (text: string): string =>
  printable(text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text);
