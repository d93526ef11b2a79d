/** Text of devices is untrusted. It must not move the cursor of a terminal, or break a line. @param {string} text */
export const printable = (text) => text.replaceAll(/\p{C}/gu, '?');

/** Characters of a topic or a device in one line. */
const LINE_LENGTH = 80;

/** @param {string} text @returns {string} printable, and short enough for one line */
export const shortened = (text) =>
  printable(text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text);
