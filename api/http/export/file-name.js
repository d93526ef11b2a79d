/** A file's name may have 255 bytes on most systems; two of these and an extension have fewer. */
const MOST_BYTES = 120;

/** What some system does not take in a file's name, or a shell would take for something else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are among them
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\:*?"'<>|`$;&]+/g;

/**
 * What the file of a sensor's samples is called: after its device and itself, by their names where they have some.
 *
 * @param {{ deviceId: string, sensorId: string, row: { deviceName: string | null, name: string | null } }} sensor
 * @param {string} extension
 * @returns {string}
 */
export function fileName({ deviceId, sensorId, row }, extension) {
  return `${safe(row.deviceName ?? deviceId)}_${safe(row.name ?? sensorId)}.${extension}`;
}

/** @param {string} text @returns {string} */
function safe(text) {
  const plain = text.replaceAll(UNSAFE, '-').replace(/^[\s.-]+/, '');
  let kept = '';
  for (const character of plain) {
    if (Buffer.byteLength(kept + character) > MOST_BYTES) break;
    kept += character;
  }
  return kept.trim() || '-';
}
