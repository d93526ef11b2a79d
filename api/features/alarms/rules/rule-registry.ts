import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { MillraceError } from '../../../../common/errors.ts';
import { uuidBytes, uuidText } from '../../../../schema/ids.ts';
import type { AlarmRuleStore, StoredRule } from '../store/rules.ts';
import { covers, type Definition, newestOf, type Rule, toRule } from './rule.ts';

export const MAX_RULES = 10_000;

/** Each attempt reads the newest version again, because another process may have changed the rule concurrently. */
const MAX_ATTEMPTS = 5;

/** In ms. All rules are read even if no change was noticed. */
const READ_ALL_EVERY_MS = 60_000;

type NamedSensor = { id: string; name: string | null; type: string | null; site: string | null };

/** Rules of a sensor, with the state for which they were found. */
type Found = { generation: number; type: string | null; site: string | null; rules: Rule[] };

const NONE: Rule[] = [];

/** Every few seconds a process checks whether the rules have changed. */
export class RuleRegistry {
  #store;
  #clock;
  #logger;
  #everyMs;
  #rules: Map<string, Rule> = new Map();
  #index: { device: Map<string, Rule[]>; type: Map<string, Rule[]>; site: Map<string, Rule[]> } = {
    device: new Map(),
    type: new Map(),
    site: new Map(),
  };
  #found: WeakMap<object, Found> = new WeakMap();
  #generation = 0;
  #changedAt: number | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #listeners: Set<(rules: Rule[]) => void> = new Set();

  constructor({
    store,
    clock,
    logger,
    everyMs,
  }: {
    store: AlarmRuleStore;
    clock: () => number;
    logger: Logger;
    everyMs: number;
  }) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  /** The pipeline reads this for each message. */
  get isEmpty() {
    return this.#rules.size === 0;
  }

  list(): Rule[] {
    return [...this.#rules.values()].filter((rule) => !newestOf(rule).removed);
  }

  /** Also finds a rule that was removed. */
  find(id: string): Rule | undefined {
    return this.#rules.get(id);
  }

  /**
   * The instructions of the version that opened the alarm. Null: it has none, the rule was removed, or this process does not know it yet.
   */
  textOf({ rule, version }: { rule: Buffer; version: number }): string | null {
    const known = this.#rules.get(uuidText(rule));
    if (!known || newestOf(known).removed) return null;
    return known.versions.find((entry) => entry.version === version)?.definition.text ?? null;
  }

  /** Also rules that covered the sensor earlier. The result is cached by the object `sensor`. */
  rulesOf(device: { id: string }, sensor: NamedSensor): Rule[] {
    const { type, site } = sensor;
    const known = this.#found.get(sensor);
    if (known?.generation === this.#generation && known.type === type && known.site === site)
      return known.rules;
    const candidates = new Set([
      ...(this.#index.device.get(device.id) ?? NONE),
      ...(this.#index.type.get(type ?? '') ?? NONE),
      ...(this.#index.site.get(site ?? '') ?? NONE),
    ]);
    const rules = [...candidates].filter((rule) =>
      rule.versions.some((version) => covers(version, device.id, sensor)),
    );
    this.#found.set(sensor, { generation: this.#generation, type, site, rules });
    return rules;
  }

  /** The listener gets rules that are new to this process, or have a new version. */
  onChange(listener: (changed: Rule[]) => void) {
    this.#listeners.add(listener);
  }

  async start() {
    await this.refresh();
    this.#timer = setInterval(() => {
      this.refresh().catch((error) =>
        this.#logger.debug({ reason: String(error) }, 'the alarm rules could not be read'),
      );
    }, this.#everyMs).unref();
  }

  stop() {
    clearInterval(this.#timer);
  }

  async refresh() {
    const changedAt = await this.#store.changedAt();
    const now = performance.now();
    if (changedAt === this.#changedAt && now - this.#readAt < READ_ALL_EVERY_MS) return;
    this.#takeAll(await this.#store.all());
    this.#changedAt = changedAt;
    this.#readAt = now;
  }

  /** @throws `too_large` at 10,000 rules */
  async add(definition: Definition, since: number): Promise<Rule> {
    if (this.list().length >= MAX_RULES)
      throw new MillraceError('too_large', `An installation has at most ${MAX_RULES} alarm rules.`);
    const ruleId = randomUUID();
    await this.#store.add(versionOf(ruleId, 1, since, definition), this.#clock());
    return this.#reread(ruleId);
  }

  /**
   * `since`: epoch ms from which the new version applies to measurements. `definition` null removes the rule. Returns null if no such rule
   * exists any more.
   */
  async replace(ruleId: string, definition: Definition | null, since: number): Promise<Rule | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const newest = (await this.#store.versions(ruleId)).at(-1);
      if (!newest || newest.removed) return null;
      const next = { ...newest, version: newest.version + 1, since, removed: definition === null };
      if (definition) next.definition = JSON.stringify(definition);
      if (await this.#store.add(next, this.#clock())) return this.#reread(ruleId);
    }
    throw new MillraceError('unavailable', 'The rule changed several times meanwhile. Try again.');
  }

  async #reread(ruleId: string) {
    const before = new Map(this.#rules);
    this.#take(ruleId, await this.#store.versions(ruleId), before);
    this.#report(before);
    return this.#rules.get(ruleId) as Rule;
  }

  #takeAll(rows: StoredRule[]) {
    const byRule: Map<string, StoredRule[]> = new Map();
    for (const row of rows) {
      const versions = byRule.get(row.ruleId);
      if (versions) versions.push(row);
      else byRule.set(row.ruleId, [row]);
    }
    const before = this.#rules;
    this.#rules = new Map();
    for (const [id, versions] of byRule) this.#take(id, versions, before);
    this.#report(before);
  }

  #take(id: string, versions: StoredRule[], before: Map<string, Rule>) {
    const known = before.get(id);
    try {
      // A read that began before a change may end after it. Then the version in memory is newer, and is kept.
      const isKnown = known !== undefined && known.versions.length >= versions.length;
      this.#rules.set(id, isKnown ? known : toRule(versions, uuidBytes(id)));
    } catch (err) {
      this.#logger.error({ err, rule: id }, 'an alarm rule of a newer version cannot be read');
    }
  }

  #report(before: Map<string, Rule>) {
    const changed = [...this.#rules.values()].filter((rule) => before.get(rule.id) !== rule);
    if (changed.length === 0) return;
    this.#generation++;
    this.#index = indexOf(this.#rules.values());
    for (const listener of this.#listeners) listener(changed);
  }
}

const versionOf = (ruleId: string, version: number, since: number, definition: Definition): StoredRule => ({
  ruleId,
  version,
  since,
  definition: JSON.stringify(definition),
  removed: false,
});

/** Each rule is listed under the narrowest member of its scope. */
function indexOf(rules: Iterable<Rule>) {
  const index = { device: new Map(), type: new Map(), site: new Map() };
  for (const rule of rules) {
    for (const { ids, definition } of rule.versions) {
      const { type, site } = definition.scope;
      if (ids.device !== null) put(index.device, ids.device, rule);
      else if (type !== undefined) put(index.type, type, rule);
      else put(index.site, String(site), rule);
    }
  }
  return index;
}

function put(map: Map<string, Rule[]>, key: string, rule: Rule) {
  const rules = map.get(key);
  if (!rules) map.set(key, [rule]);
  else if (!rules.includes(rule)) rules.push(rule);
}
