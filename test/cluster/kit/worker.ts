import { setTimeout as sleep } from 'node:timers/promises';
import { ERRORS } from '../../../common/errors.ts';
import { type ApiProcess, type Script, startApi } from '../../support/processes/api-process.ts';

const RESTART_MS = 500;
/** Exit codes of a failed start that another start may fix. */
const TRANSIENT_EXITS: ReadonlySet<number> = new Set([ERRORS.database_away.exit, ERRORS.broker_away.exit]);
/** The time limit of a start on a busy machine, while a cluster boots on it. */
const READY_MS = 120_000;

/**
 * `npm start` as an orchestrator runs it. A start that fails, for example while the database is away, is repeated until the
 * process is ready. A process that was ready and ends by itself has a defect. The worker keeps that defect.
 * @param name for people
 */
export function createWorker(name: string, settings: NodeJS.ProcessEnv, script?: Script) {
  let api: ApiProcess | null = null;
  let wanted = false;
  const defects: string[] = [];

  async function start() {
    wanted = true;
    while (wanted && !api) {
      try {
        const started = await startApi(settings, { script, withinMs: READY_MS });
        api = started;
        void started.ended.then(({ code, signal, output }) => {
          if (api === started)
            defects.push(`${name} ended by itself (${signal ?? code}):\n${output.slice(-4000)}`);
        });
      } catch (error) {
        if (!wanted) return;
        if (!TRANSIENT_EXITS.has((error as { exitCode?: number }).exitCode ?? 0)) throw error;
        await sleep(RESTART_MS);
      }
    }
  }

  return {
    name,
    defects,
    /** Settles when it is ready. */
    start,
    /** null: it does not run */
    url: () => api?.httpUrl ?? null,
    signal: (signal: NodeJS.Signals) => api?.signal(signal),
    /** @param message for `api-ahead.ts` */
    send: (message: object) => api?.send(message),
    /** kill -9; settles when it is gone. */
    async kill() {
      const running = api;
      api = null;
      wanted = false;
      await running?.kill();
    },
    /** A clean stop, as an orchestrator tries it before it kills. */
    async stop() {
      const running = api;
      api = null;
      wanted = false;
      running?.signal('SIGTERM');
      await running?.ended;
    },
  };
}

export type Worker = ReturnType<typeof createWorker>;
