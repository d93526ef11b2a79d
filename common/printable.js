/** What devices send is strangers' text: nothing in it may move a terminal's cursor, or break a line. @param {string} text */
export const printable = (text) => text.replaceAll(/\p{C}/gu, '?');
