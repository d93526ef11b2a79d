/** Minimum time to stop each process, in ms, even if the processes before it have used all the time. */
const LEAST_MS = 1000;

/**
 * A process that `npm run dev` has started, such as the database or the API.
 *
 * @typedef {object} RunningProcess
 * @property {string} title
 * @property {number} stopTimeoutMs time limit for stopping, in ms
 * @property {Promise<Error | null>} exited
 * @property {(options: { withinMs: number }) => Promise<void>} stop
 * @property {() => void} kill
 */

/**
 * Creates the list of the running processes, in the order of their start. They are stopped in the reverse order.
 *
 * @param {{ withinMs: number, print: (text: string) => void }} options `withinMs`: time limit for the stop of all processes together
 */
export function createRunningProcesses({ withinMs, print }) {
  /** @type {RunningProcess[]} */
  const processes = [];
  /** @type {(error: Error) => void} */
  let fail = () => {};
  /** Rejects when a process fails. @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    fail = reject;
  });
  // A process may fail before the caller awaits `failed`, which must not end this process. A later `await` still gets the rejection.
  failed.catch(() => {});

  return {
    failed,

    /** @param {RunningProcess} started */
    add(started) {
      processes.push(started);
      started.exited.then((error) => error && fail(error), fail);
    },

    async stop() {
      const deadline = Date.now() + withinMs;
      for (const running of [...processes].reverse()) {
        const left = Math.max(LEAST_MS, deadline - Date.now());
        const began = Date.now();
        await running.stop({ withinMs: Math.min(running.stopTimeoutMs, left) });
        print(`✓ ${running.title} stopped in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      }
    },

    kill() {
      for (const running of processes) running.kill();
    },
  };
}

/** @typedef {ReturnType<typeof createRunningProcesses>} RunningProcesses */
