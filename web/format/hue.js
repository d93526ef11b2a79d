/** Hues of the classic sensor types, one each; see --hue-1 … in tokens.css. @type {Record<string, number>} */
const TYPE_HUES = { temperature: 1, pulse: 2, location: 3, respiration: 4 };

/** @param {string | null} type @returns {number} 0 for none, 1 to 8 by the name: the same type always has the same hue */
export function hueOf(type) {
  if (!type) return 0;
  const known = TYPE_HUES[type.toLowerCase()];
  if (known) return known;
  let hash = 0;
  for (const character of type) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return 5 + (hash % 4);
}
