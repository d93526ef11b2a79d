/** @param {string} label @returns {string} as it stands in the text or in an attribute of an SVG */
export const escaped = (label) =>
  label.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
