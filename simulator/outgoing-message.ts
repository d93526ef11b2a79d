import { noteOf } from './ledger/format.js';
import { measurementsTopic } from './mqtt/topics.js';
import { countSamples } from './payloads/index.js';

/** @import { Ledger } from './ledger/ledger.js' */
/** @import { NewMessage } from './outbox.js' */
/** @import { Series } from './payloads/index.js' */

/**
 * A message that a device is about to publish.
 *
 * @typedef {object} OutgoingMessage
 * @property {string | Buffer} payload
 * @property {Series[]} series samples of the message that must be stored
 * @property {number} [dueAt] scheduled time of sending, in ms of `performance.now()`; undefined: as soon as possible
 */

/**
 * @param {string} device name
 * @param {OutgoingMessage} message
 * @param {Ledger | null} ledger
 * @returns {NewMessage}
 */
export const toMessage = (device, { payload, series, dueAt = undefined }, ledger) => ({
  topic: measurementsTopic(device),
  payload,
  samples: countSamples(series),
  note: ledger ? noteOf(device, series) : null,
  dueAt: dueAt ?? null,
});
