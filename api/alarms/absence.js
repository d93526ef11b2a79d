import { uuidBytes } from '../../schema/ids.js';
import { silenceOf } from './evaluation/condition.js';
import { covers, newestOf } from './rules/rule.js';

/** @import { Logger } from 'pino' */
/** @import { Device } from '../ingest/registry/cache.js' */
/** @import { AlarmProgress } from '../store/alarms/progress.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { Store } from '../store/index.js' */
/** @import { MonitoredSensor } from './evaluation/evaluator.js' */
/** @import { EvaluationScheduler } from './evaluation/evaluation-scheduler.js' */
/** @import { RuleRegistry } from './rules/rule-registry.js' */
/** @import { Rule } from './rules/rule.js' */

/** A lease is renewed this often, in ms: three times before it expires. */
const RENEW_EVERY_MS = 5000;

/** The sensors of a group are read again after this time, in ms: sensors come, intervals change. */
const REREAD_EVERY_MS = 60_000;

/** A silent sensor is looked at again after this time, in ms, or after its silence if that is longer. */
const SILENT_MS = 5000;

/** A sensor under rules of absence. `ts`: the newest sample known; `found`: the sample whose silence was evaluated. @typedef {{ subject: MonitoredSensor, rules: Rule[], ts: number, found: number }} Watched */

/** The sensors of a device under rules of absence, and when the first of them may be absent. @typedef {{ id: string, bytes: Buffer, sensors: Watched[], dueAt: number }} WatchedDevice */

/**
 * Notices silence. Processes share the groups of devices by leases. The holder of a lease knows for each sensor when it will have been silent for too
 * long, and then reads its newest value again. So an absence is found in time whichever process receives the sensor. The holder also takes over the
 * open episodes of its groups, so that those of a process that died go on.
 */
export class AbsenceWatch {
  #deps;
  #owner;
  #groups;
  /** By group. @type {Map<number, { devices: Map<string, WatchedDevice>, readAt: number, generation: number }>} */
  #held = new Map();
  #generation = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** @type {Promise<void>} */
  #round = Promise.resolve();
  #stopped = false;

  /**
   * @param {object} deps
   * @param {Pick<Store, 'fleet' | 'devices'>} deps.store
   * @param {AlarmProgress} deps.leases
   * @param {RuleRegistry} deps.rules
   * @param {EvaluationScheduler} deps.scheduler
   * @param {(group: number) => Promise<void>} deps.takeOverOpenEpisodes takes over the open episodes of a group
   * @param {(id: string) => Device | undefined} deps.peek
   * @param {() => number} deps.clock epoch ms
   * @param {Logger} deps.logger
   * @param {string} deps.owner no other process has it
   * @param {number} deps.groups `LATEST_GROUPS`
   * @param {number} deps.everyMs
   */
  constructor(deps) {
    this.#deps = deps;
    this.#owner = deps.owner;
    this.#groups = deps.groups;
    deps.rules.onChange(() => this.#generation++);
  }

  /** Looks for silence from now on. */
  start() {
    this.#later();
  }

  /** Ends, and gives the leases back. */
  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(
      [...this.#held.keys()].map((group) => this.#deps.leases.release(group, this.#owner).catch(() => {})),
    );
  }

  /** The groups that this process looks at. */
  get held() {
    return this.#held.size;
  }

  #later() {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#once().then(() => this.#later());
    }, this.#deps.everyMs).unref();
  }

  async #once() {
    if (this.#deps.rules.isEmpty && this.#held.size === 0) return;
    try {
      if (performance.now() - this.#renewedAt >= RENEW_EVERY_MS) {
        this.#renewedAt = performance.now();
        await this.#renew();
      }
      for (const [group, held] of this.#held) {
        const isOld = performance.now() - held.readAt >= REREAD_EVERY_MS;
        if (isOld || held.generation !== this.#generation) await this.#read(group);
        await this.#check(group);
      }
    } catch (error) {
      this.#deps.logger.debug({ reason: String(error) }, 'absence could not be looked for');
    }
  }

  async #renew() {
    const { leases } = this.#deps;
    for (let group = 0; group < this.#groups && !this.#stopped; group++) {
      const known = this.#held.get(group);
      if (known) {
        if (!(await leases.renew(group, this.#owner))) this.#held.delete(group);
      } else if (await leases.take(group, this.#owner)) {
        // After a failure the next round takes the lease again, and so does this again.
        await this.#deps.takeOverOpenEpisodes(group);
        this.#held.set(group, { devices: new Map(), readAt: Number.NEGATIVE_INFINITY, generation: -1 });
      }
    }
  }

  /** @param {number} group */
  async #read(group) {
    const held = this.#held.get(group);
    if (!held) return;
    const generation = this.#generation;
    const rules = this.#deps.rules
      .list()
      .filter((rule) => newestOf(rule).definition.condition.kind === 'absent');
    /** @type {Map<string, WatchedDevice>} */
    const devices = new Map();
    if (rules.length > 0) {
      for await (const rows of this.#deps.store.fleet.latestOfGroup(group))
        for (const row of rows) this.#add(devices, held.devices, rules, row, group);
    }
    held.devices = devices;
    held.readAt = performance.now();
    held.generation = generation;
  }

  /**
   * @param {Map<string, WatchedDevice>} devices
   * @param {Map<string, WatchedDevice>} before
   * @param {Rule[]} rules
   * @param {LatestRow} row
   * @param {number} group
   */
  #add(devices, before, rules, row, group) {
    const own = rules.filter((rule) => covers(newestOf(rule), row.deviceId, row));
    if (own.length === 0 || row.ts === null) return;
    const bytes = uuidBytes(row.deviceId);
    const device = devices.get(row.deviceId) ?? { id: row.deviceId, bytes, sensors: [], dueAt: 0 };
    const subject = {
      device: { id: row.deviceId, bytes, group, name: row.deviceName },
      sensor: { ...row, bytes: uuidBytes(row.id) },
    };
    const known = before.get(row.deviceId)?.sensors.find(({ subject }) => subject.sensor.id === row.id);
    device.sensors.push({ subject, rules: own, ts: row.ts, found: known?.found ?? Number.NaN });
    devices.set(row.deviceId, device);
  }

  /** @param {number} group */
  async #check(group) {
    const now = this.#deps.clock();
    const due = [...(this.#held.get(group)?.devices.values() ?? [])].filter(({ dueAt }) => dueAt <= now);
    for (const device of due) {
      if (this.#stopped) return;
      if (this.#judge(device, (id) => this.#deps.peek(device.id)?.sensors.get(id)?.ts)) continue;
      const rows = await this.#deps.store.devices.sensors({ group, bytes: device.bytes });
      const newest = new Map(rows.map((row) => [row.id, row]));
      this.#judge(device, (id) => newest.get(id)?.ts, true);
    }
  }

  /**
   * @param {WatchedDevice} device
   * @param {(sensor: string) => number | null | undefined} newest epoch ms of its newest sample, as far as it is known
   * @param {boolean} [isCertain] the database was asked
   * @returns {boolean} false: a sensor may be absent, and the database has to be asked
   */
  #judge(device, newest, isCertain = false) {
    const now = this.#deps.clock();
    let dueAt = Number.POSITIVE_INFINITY;
    for (const sensor of device.sensors) {
      sensor.ts = Math.max(sensor.ts, newest(sensor.subject.sensor.id) ?? Number.NEGATIVE_INFINITY);
      for (const rule of sensor.rules) {
        const { condition } = newestOf(rule).definition;
        if (condition.kind !== 'absent') continue;
        const silence = silenceOf(condition, sensor.subject.sensor.intervalMs);
        if (silence === null) continue;
        if (sensor.ts + silence > now) {
          dueAt = Math.min(dueAt, sensor.ts + silence);
          continue;
        }
        if (!isCertain) return false;
        if (sensor.found !== sensor.ts)
          this.#deps.scheduler.evaluate(sensor.subject, rule, { from: sensor.ts, to: sensor.ts });
        dueAt = Math.min(dueAt, now + Math.max(silence, SILENT_MS));
      }
      if (isCertain) sensor.found = isAbsent(sensor, now) ? sensor.ts : Number.NaN;
    }
    device.dueAt = dueAt;
    return true;
  }
}

/** @param {Watched} sensor @param {number} now */
const isAbsent = ({ subject, rules, ts }, now) =>
  rules.every((rule) => {
    const { condition } = newestOf(rule).definition;
    const silence = condition.kind === 'absent' ? silenceOf(condition, subject.sensor.intervalMs) : null;
    return silence === null || ts + silence <= now;
  });
