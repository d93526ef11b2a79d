import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../simulator/random.ts';
import { reportLines } from '../../simulator/verify/report.ts';
import { createJudge } from '../cluster/kit/judge.ts';
import type { LedgerIndex } from '../cluster/kit/ledger-index.ts';
import { ChangesReader } from '../support/changes-reader.ts';
import { runCleanUps } from '../support/run-clean-ups.ts';
import { until } from '../support/until.ts';
import { AlarmCheck } from './alarms.ts';
import { inject } from './faults.ts';
import { type Fault, planFaults, titleOf } from './plan.ts';
import { type Problem, Reader } from './reader.ts';
import { type Parts, startParts, type World } from './world.ts';

const WATCH_EVERY_MS = 500;
/** Length of the range that a check compares, in ms. */
const WINDOW_MS = 40_000;
/** What is acknowledged is readable within this time, in ms, although its process may be dead and its broker away. */
const READABLE_MS = 180_000;
const RECOVERY_MS = 240_000;
/** Messages of each fleet that are acknowledged before the first fault. */
const WARM_UP = 200;

/** A fault that happened. Times in epoch ms; `recovered`: all devices had samples acknowledged that they measured after the fault began. */
export type Happened = Fault & { title: string; from: number; to: number; recovered: number | null };

export type Outcome = {
  seed: number;
  kills: number;
  begun: number;
  ended: number;
  faults: Happened[];
  acknowledged: number;
  /** reads of acknowledged samples by pages and changes that were compared */
  checked: number;
  problems: Problem[];
  /** of what failed otherwise: a process that ended by itself, or a comparison of ledger and database */
  errors: string[];
  /** acknowledged samples so far, over time */
  progress: Array<{ at: number; samples: number }>;
};

/** Runs the planned faults under load, compares all the time, and compares everything at the end. */
export class Drill {
  #world;
  #reader;
  #random: Random;
  #changes;
  #parts: Parts | null = null;
  #isOver = false;
  #isStopped = false;
  outcome: Outcome;

  constructor(world: World, { seed, kills }: { seed: number; kills: number }) {
    this.#world = world;
    this.#random = createRandom(seed, 'reader');
    const urls = () => Object.values(this.#parts?.workers ?? {}).flatMap((worker) => worker.url() ?? []);
    this.#reader = new Reader({ urls, random: this.#random });
    this.#changes = new ChangesReader(this.#reader.fetch);
    const begun = Date.now();
    const nothing = { faults: [], acknowledged: 0, checked: 0, problems: [], errors: [], progress: [] };
    this.outcome = { seed, kills, begun, ended: begun, ...nothing };
  }

  /** @param name prefix of the devices */
  async run(name: string): Promise<Outcome> {
    const cleanUps: Array<() => unknown> = [];
    this.#world.afterwards(() => runCleanUps(cleanUps));
    const { seed, kills } = this.outcome;
    const plan = planFaults({ seed, kills });
    try {
      const afterwards = (cleanUp: () => unknown) => void cleanUps.push(cleanUp);
      const parts = await startParts(this.#world, { name, seed, plan, afterwards });
      this.#parts = parts;
      await this.#untilAnswers(() => this.#changes.read());
      await Promise.all(parts.fleets.map((fleet) => fleet.progress(WARM_UP)));
      const alarms = new AlarmCheck(parts.acknowledged[0] as LedgerIndex, this.#reader);
      await alarms.addRules((question) => this.#untilAnswers(question), this.outcome.begun);
      const watching = [this.#watch(parts), this.#follow(), this.#check(parts)];
      const series = Object.values(plan.series).map((faults) => this.#injectAll(parts, faults));
      for (const each of [...watching, ...series]) each.catch(() => this.stop());
      try {
        await allEnded(series);
        await this.#recover(parts);
      } finally {
        this.#isOver = true;
        await allEnded(watching);
      }
      await this.#compareAll(parts);
      await this.#settle(() => alarms.check());
    } catch (error) {
      this.outcome.errors.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      const workers = Object.values(this.#parts?.workers ?? {});
      this.outcome.errors.push(...workers.flatMap(({ defects }) => defects));
      this.outcome.ended = Date.now();
      await runCleanUps(cleanUps);
    }
    return this.outcome;
  }

  get ledgers() {
    return (this.#parts?.promised ?? []).map(({ path }) => path);
  }

  /** No further fault begins. */
  stop() {
    this.#isStopped = true;
  }

  async #injectAll(parts: Parts, faults: Fault[]) {
    for (const fault of faults) {
      // The pause is part of the scenario. No condition ends it earlier.
      await sleep(fault.after);
      if (this.#isStopped) return;
      const happened = { ...fault, title: titleOf(fault), from: Date.now(), to: Infinity, recovered: null };
      this.outcome.faults.push(happened);
      try {
        await inject(parts, fault);
      } catch (error) {
        throw new Error(`${happened.title}: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      }
      happened.to = Date.now();
    }
  }

  async #recover({ fleets, acknowledged }: Parts) {
    const from = Date.now();
    await Promise.all(fleets.map((fleet) => fleet.recovery()));
    const isReached = async () => {
      await Promise.all(acknowledged.map((index) => index.advance()));
      return acknowledged.every((index) => index.hasRecovered(from));
    };
    await until(isReached, { withinMs: RECOVERY_MS, what: 'the recovery of ingest' });
  }

  async #watch({ acknowledged, workers }: Parts) {
    while (!this.#isOver) {
      await sleep(WATCH_EVERY_MS);
      await Promise.all(acknowledged.map((index) => index.advance()));
      const at = Date.now();
      const samples = acknowledged.reduce((sum, { counts }) => sum + counts.samples, 0);
      Object.assign(this.outcome, { acknowledged: samples, checked: this.#reader.checked, ended: at });
      this.outcome.progress.push({ at, samples });
      for (const fault of this.outcome.faults)
        if (!fault.recovered && acknowledged.every((index) => index.hasRecovered(fault.from)))
          fault.recovered = at;
      if (Object.values(workers).some(({ defects }) => defects.length > 0)) this.stop();
    }
  }

  async #follow() {
    while (!this.#isOver) await this.#changes.read().catch(() => sleep(WATCH_EVERY_MS));
  }

  async #check({ promised }: Parts) {
    while (!this.#isOver) {
      const index = this.#random.shuffled(promised)[0];
      const device = this.#random.shuffled([...(index?.devices.keys() ?? [])])[0];
      const now = Date.now();
      const range = { from: now - WINDOW_MS, to: now };
      if (index && device) await this.#settle(() => this.#reader.checkDevice(index, device, range));
      await sleep(WATCH_EVERY_MS);
    }
  }

  /** Repeats a check while samples or alarms are missing, for as long as they may. A wrong or doubled sample counts at once. */
  async #settle(check: () => Promise<Problem[]>) {
    const deadline = Date.now() + READABLE_MS;
    for (;;) {
      const problems = await this.#untilAnswers(check);
      const isFinal =
        Date.now() > deadline || problems.some(({ kind }) => kind === 'doubled' || kind === 'wrong');
      if (problems.length === 0) return;
      if (isFinal) {
        this.outcome.problems.push(...problems);
        return this.stop();
      }
      await sleep(WATCH_EVERY_MS);
    }
  }

  /** @throws the last failure */
  async #untilAnswers<T>(ask: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + RECOVERY_MS;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(WATCH_EVERY_MS);
      }
    }
  }

  async #compareAll({ fleets, promised, acknowledged, workers }: Parts) {
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    // This process does not come back. Another one writes the rows of its journal.
    await workers.embedded.kill();
    const judge = createJudge(this.#world);
    await judge.repair();
    for (const { path } of promised) {
      const { agree, ...result } = await judge.agreement(path);
      if (!agree) this.outcome.errors.push(reportLines({ agree, ...result }).join('\n'));
    }
    for (const index of promised) {
      for (const device of index.devices.keys()) {
        const range = { from: this.outcome.begun - READABLE_MS, to: Date.now() + READABLE_MS };
        await this.#settle(() => this.#reader.checkDevice(index, device, range));
      }
    }
    for (const index of promised) {
      await this.#settle(async () => {
        while ((await this.#changes.read()) > 0);
        return this.#reader.compareAll('changes', index, (device, sensor) =>
          this.#changes.samplesOf(device, sensor),
        );
      });
    }
    const samples = acknowledged.reduce((sum, { counts }) => sum + counts.samples, 0);
    Object.assign(this.outcome, { acknowledged: samples, checked: this.#reader.checked });
  }
}

/** @throws the first failure, when all have ended */
async function allEnded(running: Array<Promise<void>>) {
  const results = await Promise.allSettled(running);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
