/** @param {string} says @returns {string} as it stands in the text or in an attribute of an SVG */
export const escaped = (says) =>
  says.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
