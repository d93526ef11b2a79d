/** @import { Message } from './pipeline.js' */

/** Messages of unknown devices that are remembered, for how long, in ms, and how large each may be, in bytes. */
const MOST = 1000;
const FOR_MS = 60_000;
const LARGEST_BYTES = 16_384;

/**
 * Messages that came before their device's birth, where devices do not register by message. Each is a dead letter
 * already; when the birth arrives within a minute, they are stored after all.
 *
 * @param {{ clock: () => number }} deps
 */
export function createAwaitingRegistration({ clock }) {
  /** @type {Array<{ device: string, at: number, message: Message }>} oldest first */
  let waiting = [];

  const forgetOld = () => {
    const before = clock() - FOR_MS;
    waiting = waiting.filter(({ at }) => at >= before);
  };

  return {
    /** @param {string} device id @param {Message} message */
    remember(device, message) {
      forgetOld();
      if (message.payload.length > LARGEST_BYTES) return;
      waiting.push({ device, at: clock(), message });
      if (waiting.length > MOST) waiting.shift();
    },
    /** @param {string} device id @returns {Message[]} in order of arrival */
    take(device) {
      forgetOld();
      const its = waiting.filter((stray) => stray.device === device);
      if (its.length > 0) waiting = waiting.filter((stray) => stray.device !== device);
      return its.map(({ message }) => message);
    },
    /** Messages that are remembered. */
    get size() {
      return waiting.length;
    },
  };
}

/** @typedef {ReturnType<typeof createAwaitingRegistration>} AwaitingRegistration */
