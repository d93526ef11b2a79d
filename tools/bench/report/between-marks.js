/**
 * Replaces the part of a document between two lines.
 *
 * @param {string} document
 * @param {{ begin: string, end: string }} marks the lines
 * @param {string} text
 * @returns {string} the document with the text between the marks
 * @throws {RangeError} when the marks are not there
 */
export function betweenMarks(document, { begin, end }, text) {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}
