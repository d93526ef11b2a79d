/**
 * @param {string} document
 * @param {Record<string, string>} parts by name
 * @returns {string} the document with each part between its marks
 * @throws {RangeError} when a mark is not there
 */
export function fillMarks(document, parts) {
  return Object.entries(parts).reduce((page, [name, text]) => {
    const [begin, end] = [`<!-- size: ${name} -->`, `<!-- /size: ${name} -->`];
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
    return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
  }, document);
}
