/** Minimum time to stop each process, in ms, even if the processes before it have used all the time. */
const MIN_MS = 1000;

interface RunningProcess {
  title: string;
  stopTimeoutMs: number;
  exited: Promise<Error | null>;
  stop: (options: { withinMs: number }) => Promise<void>;
  kill: () => void;
}

/** Processes stop in the reverse order of their start. @param options `withinMs`: time limit for all of them together */
export function createRunningProcesses({
  withinMs,
  print,
}: {
  withinMs: number;
  print: (text: string) => void;
}) {
  const processes: RunningProcess[] = [];
  let fail: (error: Error) => void = () => {};
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
        const left = Math.max(MIN_MS, deadline - Date.now());
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
