/** What devices send is strangers' text: nothing in it may move a terminal's cursor, or break a line. @param {string} text */
export const printable = (text) => text.replaceAll(/\p{C}/gu, '?');

/** Characters of a topic or a device that one line shows. */
const LINE_LENGTH = 80;

/** @param {string} text @returns {string} printable, and short enough for one line */
export const shortened = (text) =>
  printable(text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text);
