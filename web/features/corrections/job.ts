import { signal } from '@preact/signals';
import type { Problem } from '../../api/request.ts';
import { toProblem } from '../../api/request.ts';
import type { Services } from '../../state/hooks.ts';

/** Sends a part of a correction, and may be sent again. @returns number of corrected samples */
export type Part = (signal: AbortSignal) => Promise<number>;

/** A correction that may take long. */
export interface Job {
  /** `Remove values of my-desk temperature` */
  title: string;
  /** word for the corrected samples */
  past: 'removed' | 'replaced';
  /** Prepares the parts before the first is sent. They hold all that they send, so a repetition sends the same. */
  prepare: (signal: AbortSignal) => Promise<Part[]>;
}

export interface JobState {
  job: Job;
  state: 'running' | 'stopped' | 'done';
  /** null: not prepared yet */
  parts: Part[] | null;
  /** number of parts that are done */
  done: number;
  samples: number;
  /** the reason why it stopped; null: the user stopped it */
  problem: Problem | null;
}

/** Runs one correction at a time, also after the user leaves the page on which it began. */
export function createJobs({ session, live }: Pick<Services, 'session' | 'live'>) {
  const state = signal<JobState | null>(null);
  let abort: AbortController | null = null;
  // The parts end with the page, so the browser asks before the page closes or reloads.
  const askFirst = (event: Event) => event.preventDefault();
  state.subscribe((now) => {
    const isOpen = now !== null && now.state !== 'done';
    window[isOpen ? 'addEventListener' : 'removeEventListener']('beforeunload', askFirst);
  });

  async function run(begun: JobState) {
    const own = new AbortController();
    abort = own;
    let now: JobState = { ...begun, state: 'running', problem: null };
    const show = (changes: Partial<JobState>) => {
      now = { ...now, ...changes };
      // After a sign-out the next user may be another person.
      if (abort === own) state.value = now;
    };
    show({});
    try {
      const parts = now.parts ?? (await now.job.prepare(own.signal));
      show({ parts });
      for (const part of parts.slice(now.done)) {
        own.signal.throwIfAborted();
        const samples = await part(own.signal);
        show({ done: now.done + 1, samples: now.samples + samples });
      }
      show({ state: 'done' });
    } catch (error) {
      show({ state: 'stopped', problem: own.signal.aborted ? null : toProblem(error) });
    } finally {
      live.historyChanges.value++;
    }
  }

  session.state.subscribe(({ isOut, hasEnded }) => {
    if (!isOut) return;
    const running = abort;
    if (!hasEnded) {
      abort = null;
      state.value = null;
    }
    running?.abort();
  });

  return {
    state,
    start: (job: Job) => void run({ job, state: 'running', parts: null, done: 0, samples: 0, problem: null }),
    resume: () => void (state.value?.state === 'stopped' && run(state.value)),
    stop: () => abort?.abort(),
    /** Forgets a job that does not run. What it has corrected stays. */
    discard() {
      if (state.value?.state !== 'running') state.value = null;
    },
  };
}
