import { forEachConcurrently, SharedCalls } from '../../../common/concurrency.ts';
import { type DeviceBytes, groupOf, uuidText } from '../../../schema/ids.ts';
import type { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import type { AlarmChange, Evaluator } from './evaluation/evaluator.ts';
import type { Rule } from './rules/rule.ts';
import type { RuleRegistry } from './rules/rule-registry.ts';
import type { Alarm, AlarmStore, EpisodeKey } from './store/episodes.ts';
import type { Subjects } from './subjects.ts';

const AT_ONCE = 8;

/** Handles open episodes that no sample of this process ends: of a process that ended, a changed rule, or a retired device. */
export class OpenEpisodes {
  #deps;
  /** The change of a rule and the takeover of a group may end an episode at the same time. The end is then reported once. */
  #ends = new SharedCalls(({ key, rule }: { id: string; key: EpisodeKey; rule: Rule | undefined }) =>
    this.#end(key, rule),
  );

  constructor(deps: {
    episodes: AlarmStore;
    rules: RuleRegistry;
    subjects: Subjects;
    scheduler: EvaluationScheduler;
    evaluator: Pick<Evaluator, 'end'>;
    onChange: (change: AlarmChange) => void;
    clock: () => number;
    groups: number;
    historyMs: number;
  }) {
    this.#deps = deps;
  }

  /** Skips episodes that a task of this process follows. */
  async takeOver(group: number) {
    const { episodes, scheduler, clock } = this.#deps;
    await forEachConcurrently(AT_ONCE, await episodes.open(group), async (key) => {
      if (scheduler.watches(key)) return;
      const alarm = await episodes.find(key);
      // A row in the index of open episodes may outlive its alarm.
      if (this.#isOver(key, alarm)) await episodes.close(group, key, alarm?.writtenAt ?? clock());
      else await this.#evaluateAgain(key, alarm);
    });
  }

  async endOld(changed: Rule[]) {
    const ended = changed.filter(({ versions }) => versions.length > 1);
    if (ended.length === 0) return;
    for (let group = 0; group < this.#deps.groups; group++)
      await this.#evaluateAll(group, (key) => ended.some(({ bytes }) => bytes.equals(key.rule)));
  }

  async endOfDevice(device: DeviceBytes) {
    await this.#evaluateAll(groupOf(device, this.#deps.groups), (key) => key.device.equals(device));
  }

  async #evaluateAll(group: number, isWanted: (key: EpisodeKey) => boolean) {
    const { episodes } = this.#deps;
    for (const key of await episodes.open(group))
      if (isWanted(key)) await this.#evaluateAgain(key, await episodes.find(key));
  }

  async #evaluateAgain(key: EpisodeKey, alarm: Alarm | null) {
    const { rules, subjects, scheduler, clock } = this.#deps;
    // A removed rule still ends its episodes.
    const rule = rules.find(uuidText(key.rule));
    const subject = await subjects.find(key);
    if (!subject || this.#isOutlived(alarm)) {
      const id = [...[key.device, key.sensor, key.rule].map(uuidText), key.start].join();
      await this.#ends.call({ id, key, rule });
    }
    if (subject && rule) scheduler.evaluate(subject, rule, { from: key.start, to: clock() });
  }

  async #end(key: EpisodeKey, rule: Rule | undefined) {
    const { evaluator, onChange, groups } = this.#deps;
    const change = await evaluator.end(key, { group: groupOf(key.device, groups), rule });
    if (change) onChange(change);
  }

  /** `alarm` is null if it has expired, or is not written yet. */
  #isOver({ start }: EpisodeKey, alarm: Alarm | null) {
    if (alarm) return alarm.withdrawn || alarm.cleared !== null;
    return start < this.#deps.clock() - this.#deps.historyMs;
  }

  /**
   * No evaluation covers an alarm that began after its version of the rule had ended. The process that wrote it did not know the change of
   * the rule yet, or the clock of the device is ahead.
   */
  #isOutlived(alarm: Alarm | null) {
    if (!alarm) return false;
    const rule = this.#deps.rules.find(uuidText(alarm.rule));
    const version = rule?.versions.find((known) => known.version === alarm.version);
    return version !== undefined && version.until <= alarm.start;
  }
}
