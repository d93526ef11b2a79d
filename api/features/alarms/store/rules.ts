import { uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { PART } from '../../../../schema/migrate/installation.ts';
import { int64 } from '../../../store/index.ts';
import type { Row, Session } from '../../../store/sending/session.ts';

const SELECT = {
  name: 'read_alarm_rules',
  cql: 'SELECT rule_id, version, since, definition, removed FROM alarm_rule WHERE part = ?',
  fetchSize: 1000,
};
const ONE = {
  name: 'read_alarm_rule',
  cql: 'SELECT rule_id, version, since, definition, removed FROM alarm_rule WHERE part = ? AND rule_id = ?',
};
const CHANGED_AT = {
  name: 'read_alarm_rules_changed',
  cql: 'SELECT changed_at FROM alarm_rule WHERE part = ? LIMIT 1',
};
const ADD = {
  name: 'add_alarm_rule',
  cql: 'INSERT INTO alarm_rule (part, rule_id, version, since, definition, removed) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS',
};
const MARK = { name: 'mark_alarm_rules', cql: 'UPDATE alarm_rule SET changed_at = ? WHERE part = ?' };

export interface StoredRule {
  ruleId: string;
  version: number;
  /** epoch ms, in the time of measurements: the start of this version and the end of the previous one */
  since: number;
  /** JSON */
  definition: string;
  /** true: the rule was removed at `since`, so this version is the last */
  removed: boolean;
}

export function createAlarmRuleStore(session: Session) {
  return {
    all: async (): Promise<StoredRule[]> => (await session.all(SELECT, [PART])).filter(isVersion).map(toRule),

    /** Oldest first. */
    versions: async (ruleId: string): Promise<StoredRule[]> =>
      (await session.all(ONE, [PART, uuidBytes(ruleId)])).filter(isVersion).map(toRule),

    /** @returns epoch ms of the newest change, by the clock of the process that made it; null: no change yet */
    async changedAt(): Promise<number | null> {
      const row = await session.one(CHANGED_AT, [PART]);
      return row?.['changed_at']?.getTime() ?? null;
    },

    /** Adds a version, by a lightweight transaction. @returns false: another caller has added this version */
    async add({ ruleId, version, since, definition, removed }: StoredRule, now: number): Promise<boolean> {
      const row = [PART, uuidBytes(ruleId), version, int64(since), definition, removed];
      const answer = await session.one(ADD, row);
      if (answer?.['[applied]'] !== true) return false;
      // Processes compare this mark to learn of changes. A process that misses it reads all rules a minute later.
      await session.write(MARK, [int64(now), PART]);
      return true;
    },
  };
}

export type AlarmRuleStore = ReturnType<typeof createAlarmRuleStore>;

/** A row may have only the static column, and so no rule. */
const isVersion = (row: Row) => row['definition'] !== null && row['definition'] !== undefined;

const toRule = (row: Row): StoredRule => ({
  ruleId: uuidText(row['rule_id'].getBuffer()),
  version: row['version'],
  since: row['since'].getTime(),
  definition: row['definition'],
  removed: row['removed'] === true,
});
