/** @import { Message } from './pipeline.js' */

/** Limits of the queue: number of messages, time in ms, and size of one message in bytes. */
const MAX_MESSAGES = 1000;
const KEPT_MS = 60_000;
const MAX_BYTES = 16_384;

/**
 * Messages that arrived before the birth of their device, when AUTO_REGISTER is off. Each is already a dead letter. If the birth
 * arrives within a minute, ingest stores them.
 *
 * @param {{ clock: () => number }} deps
 */
export function createAwaitingRegistration({ clock }) {
  /** The oldest first. @type {Array<{ device: string, arrivedAt: number, message: Message }>} */
  let waiting = [];

  const forgetOld = () => {
    const oldest = clock() - KEPT_MS;
    waiting = waiting.filter(({ arrivedAt }) => arrivedAt >= oldest);
  };

  return {
    /** @param {string} device id @param {Message} message */
    remember(device, message) {
      forgetOld();
      if (message.payload.length > MAX_BYTES) return;
      waiting.push({ device, arrivedAt: clock(), message });
      if (waiting.length > MAX_MESSAGES) waiting.shift();
    },
    /** @param {string} device id @returns {Message[]} in order of arrival */
    take(device) {
      forgetOld();
      const taken = waiting.filter((entry) => entry.device === device);
      if (taken.length > 0) waiting = waiting.filter((entry) => entry.device !== device);
      return taken.map(({ message }) => message);
    },
    /** Number of waiting messages. */
    get size() {
      return waiting.length;
    },
  };
}

/** @typedef {ReturnType<typeof createAwaitingRegistration>} AwaitingRegistration */
