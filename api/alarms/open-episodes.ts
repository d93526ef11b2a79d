import { forEachConcurrently, SharedCalls } from '../../common/concurrency.js';
import { groupOf, uuidText } from '../../schema/ids.js';

/** @import { Alarm, AlarmStore, EpisodeKey } from '../store/alarms/episodes.js' */
/** @import { EvaluationScheduler } from './evaluation/evaluation-scheduler.js' */
/** @import { AlarmChange, Evaluator } from './evaluation/evaluator.js' */
/** @import { RuleRegistry } from './rules/rule-registry.js' */
/** @import { Rule } from './rules/rule.js' */
/** @import { Subjects } from './subjects.js' */

/** Limit of episodes that are read concurrently. */
const AT_ONCE = 8;

/**
 * Evaluates or ends open episodes that no sample of this process ends: episodes of a process that ended, of a rule that changed,
 * and of a device that was retired.
 */
export class OpenEpisodes {
  #deps;
  /** The change of a rule and the takeover of a group may end an episode at the same time. The end is then reported once. */
  #ends = new SharedCalls(
    (/** @type {{ id: string, key: EpisodeKey, rule: Rule | undefined }} */ { key, rule }) =>
      this.#end(key, rule),
  );

  /**
   * @param {object} deps
   * @param {AlarmStore} deps.episodes
   * @param {RuleRegistry} deps.rules
   * @param {Subjects} deps.subjects
   * @param {EvaluationScheduler} deps.scheduler
   * @param {Pick<Evaluator, 'end'>} deps.evaluator
   * @param {(change: AlarmChange) => void} deps.onChange called after a change is committed
   * @param {() => number} deps.clock epoch ms
   * @param {number} deps.groups number of groups of devices (`LATEST_GROUPS`)
   * @param {number} deps.historyMs `HISTORY_DAYS` in ms
   */
  constructor(deps) {
    this.#deps = deps;
  }

  /** Evaluates the open episodes of a group of devices that no task of this process follows. @param {number} group */
  async takeOver(group) {
    const { episodes, scheduler, clock } = this.#deps;
    await forEachConcurrently(AT_ONCE, await episodes.open(group), async (key) => {
      if (scheduler.watches(key)) return;
      const alarm = await episodes.find(key);
      // A row in the index of open episodes may outlive its alarm.
      if (this.#isOver(key, alarm)) await episodes.close(group, key, alarm?.writtenAt ?? clock());
      else await this.#evaluateAgain(key, alarm);
    });
  }

  /** Ends the open episodes of older versions of the changed rules. @param {Rule[]} changed */
  async endOld(changed) {
    const ended = changed.filter(({ versions }) => versions.length > 1);
    if (ended.length === 0) return;
    for (let group = 0; group < this.#deps.groups; group++)
      await this.#evaluateAll(group, (key) => ended.some(({ bytes }) => bytes.equals(key.rule)));
  }

  /** Ends the open episodes of a device that was retired. @param {Buffer} device 16 bytes */
  async endOfDevice(device) {
    await this.#evaluateAll(groupOf(device, this.#deps.groups), (key) => key.device.equals(device));
  }

  /** @param {number} group @param {(key: EpisodeKey) => boolean} isWanted */
  async #evaluateAll(group, isWanted) {
    const { episodes } = this.#deps;
    for (const key of await episodes.open(group))
      if (isWanted(key)) await this.#evaluateAgain(key, await episodes.find(key));
  }

  /** @param {EpisodeKey} key @param {Alarm | null} alarm as it is stored */
  async #evaluateAgain(key, alarm) {
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

  /** Ends an episode, and reports the end. @param {EpisodeKey} key @param {Rule | undefined} rule */
  async #end(key, rule) {
    const { evaluator, onChange, groups } = this.#deps;
    const change = await evaluator.end(key, { group: groupOf(key.device, groups), rule });
    if (change) onChange(change);
  }

  /** @param {EpisodeKey} key @param {Alarm | null} alarm null: the alarm has expired, or is not written yet */
  #isOver({ start }, alarm) {
    if (alarm) return alarm.withdrawn || alarm.cleared !== null;
    return start < this.#deps.clock() - this.#deps.historyMs;
  }

  /**
   * Whether an alarm began after its version of the rule had ended. No evaluation covers such an alarm any more. Either the
   * process that wrote the alarm did not yet know the change of the rule, or the clock of the device is ahead.
   *
   * @param {Alarm | null} alarm
   */
  #isOutlived(alarm) {
    if (!alarm) return false;
    const rule = this.#deps.rules.find(uuidText(alarm.rule));
    const version = rule?.versions.find((known) => known.version === alarm.version);
    return version !== undefined && version.until <= alarm.start;
  }
}
