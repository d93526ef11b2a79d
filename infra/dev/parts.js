/** Minimum that the last part gets, even when those before it took all the time, ms. */
const LEAST_MS = 1000;

/**
 * @typedef {object} Part a running part of the system
 * @property {string} title
 * @property {number} stopTimeoutMs time limit for stopping, in ms
 * @property {Promise<Error | null>} exited
 * @property {(options: { withinMs: number }) => Promise<void>} stop
 * @property {() => void} kill
 */

/**
 * The parts of the system in the order in which they were started; they are stopped the other way round.
 *
 * @param {{ withinMs: number, print: (text: string) => void }} options `withinMs`: most that all of them get together
 */
export function createParts({ withinMs, print }) {
  /** @type {Part[]} */
  const parts = [];
  /** @type {(error: Error) => void} */
  let fail = () => {};
  /** Rejects when a part fails. @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    fail = reject;
  });
  // A part may fail before anybody awaits it. A later await still gets the rejection.
  failed.catch(() => {});

  return {
    failed,

    /** @param {Part} part */
    add(part) {
      parts.push(part);
      part.exited.then((error) => error && fail(error), fail);
    },

    async stop() {
      const deadline = Date.now() + withinMs;
      for (const part of [...parts].reverse()) {
        const left = Math.max(LEAST_MS, deadline - Date.now());
        const began = Date.now();
        await part.stop({ withinMs: Math.min(part.stopTimeoutMs, left) });
        print(`✓ ${part.title} stopped in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      }
    },

    kill() {
      for (const part of parts) part.kill();
    },
  };
}

/** @typedef {ReturnType<typeof createParts>} Parts */
