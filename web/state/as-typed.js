/**
 * A name as one reads and types it: spaces at its ends and several in a row are not seen, and one letter with an accent may be two
 * characters.
 *
 * @param {string} name
 */
export const asTyped = (name) => name.normalize('NFC').replace(/\s+/gu, ' ').trim();
