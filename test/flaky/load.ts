import { Worker } from 'node:worker_threads';

/** Burns a processor until it is terminated. */
const BUSY = 'for (;;) Math.sqrt(Math.random());';

/** Keeps processors busy. The threads end with this process, however it ends. @returns ends them */
export function startLoad(threads: number): () => Promise<void> {
  const workers = Array.from({ length: threads }, () => new Worker(BUSY, { eval: true }));
  return async () => {
    await Promise.all(workers.map((worker) => worker.terminate()));
  };
}
