/** Minimum time to stop each process, in ms, even if the processes before it have used all the time. */
const LEAST_MS = 1000;

/** A process that `npm run dev` has started, such as the database or the API. */
interface RunningProcess {
  title: string;
  /** time limit for stopping, in ms */
  stopTimeoutMs: number;
  exited: Promise<Error | null>;
  stop: (options: { withinMs: number }) => Promise<void>;
  kill: () => void;
}

/**
 * Creates the list of the running processes, in the order of their start. They are stopped in the reverse order.
 * @param options `withinMs`: time limit for the stop of all processes together
 */
export function createRunningProcesses({
  withinMs,
  print,
}: {
  withinMs: number;
  print: (text: string) => void;
}) {
  const processes: RunningProcess[] = [];
  let fail: (error: Error) => void = () => {};
  /** Rejects when a process fails. */
  const failed: Promise<never> = new Promise((_, reject) => {
    fail = reject;
  });
  // A process may fail before the caller awaits `failed`, which must not end this process. A later `await` still gets the rejection.
  failed.catch(() => {});

  return {
    failed,

    add(started: RunningProcess) {
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

export type RunningProcesses = ReturnType<typeof createRunningProcesses>;
