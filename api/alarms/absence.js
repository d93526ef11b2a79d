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

/**
 * A sensor under rules of absence.
 *
 * @typedef {object} Watched
 * @property {MonitoredSensor} subject
 * @property {Rule[]} rules
 * @property {number} ts epoch ms of the newest sample known
 * @property {number} found epoch ms of the sample whose silence all rules were evaluated for; NaN: none
 */

/** The sensors of a device under rules of absence, and when the first of them may be absent. @typedef {{ id: string, bytes: Buffer, sensors: Watched[], dueAt: number }} WatchedDevice */

/**
 * A group whose lease this process has.
 *
 * @typedef {object} HeldGroup
 * @property {Map<string, WatchedDevice>} devices
 * @property {number} readAt when its sensors were read, by `performance.now()`
 * @property {number} generation of the rules by which they were read
 * @property {boolean} isTakenOver its open episodes were taken over since
 */

/**
 * Notices silence. Processes share the groups of devices by leases. The holder of a lease knows for each
 * sensor when it will have been silent for too long, and then reads its newest value again. So an absence is
 * found in time whichever process receives the sensor. Whenever the holder reads the sensors of a group, it
 * also takes over the open episodes of the group, so that those of a process that ended go on.
 */
export class AbsenceWatch {
  #deps;
  #owner;
  #groups;
  #rereadMs;
  /** By group. @type {Map<number, HeldGroup>} */
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
   * @param {number} [deps.rereadMs] pause until the sensors of a group are read again
   */
  constructor(deps) {
    this.#deps = deps;
    this.#owner = deps.owner;
    this.#groups = deps.groups;
    this.#rereadMs = deps.rereadMs ?? REREAD_EVERY_MS;
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
    await this.#renewIfDue();
    for (const group of [...this.#held.keys()]) {
      if (this.#stopped) return;
      await this.#try(() => this.#look(group));
      await this.#try(() => this.#takeOver(group));
      await this.#renewIfDue();
    }
  }

  /** A failure of one group delays no other. @param {() => Promise<void>} work */
  async #try(work) {
    try {
      await work();
    } catch (error) {
      this.#deps.logger.debug({ reason: String(error) }, 'absence could not be looked for');
    }
  }

  /** Renews the leases, and takes free ones. After a failure the next turn comes before a lease expires. */
  async #renewIfDue() {
    if (performance.now() - this.#renewedAt < RENEW_EVERY_MS) return;
    for (let group = 0; group < this.#groups && !this.#stopped; group++)
      await this.#try(() => this.#renew(group));
    this.#renewedAt = performance.now();
  }

  /** @param {number} group */
  async #renew(group) {
    const { leases } = this.#deps;
    if (this.#held.has(group)) {
      if (!(await leases.renew(group, this.#owner))) this.#held.delete(group);
    } else if (await leases.take(group, this.#owner)) {
      const never = { readAt: Number.NEGATIVE_INFINITY, generation: -1, isTakenOver: false };
      this.#held.set(group, { devices: new Map(), ...never });
    }
  }

  /** @param {number} group */
  async #look(group) {
    const held = this.#held.get(group);
    if (!held) return;
    const isOld = performance.now() - held.readAt >= this.#rereadMs;
    if (isOld || held.generation !== this.#generation) await this.#read(group, held);
    await this.#check(group);
  }

  /** Takes over open episodes after the sensors were read. @param {number} group */
  async #takeOver(group) {
    const held = this.#held.get(group);
    if (!held || held.isTakenOver || this.#stopped) return;
    await this.#deps.takeOverOpenEpisodes(group);
    // After a failure the next round does it again.
    held.isTakenOver = true;
  }

  /** @param {number} group @param {HeldGroup} held */
  async #read(group, held) {
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
    held.generation = generation;
    // After a failure the next round reads the group again.
    held.readAt = performance.now();
    held.isTakenOver = false;
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
    device.sensors.push({ subject, rules: own, ts: row.ts, found: foundBy(known, own, row.intervalMs) });
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
      let isFound = true;
      for (const rule of sensor.rules) {
        const { condition } = newestOf(rule).definition;
        if (condition.kind !== 'absent') continue;
        const silence = silenceOf(condition, sensor.subject.sensor.intervalMs);
        if (silence === null) continue;
        if (sensor.ts + silence > now) {
          isFound = false;
          dueAt = Math.min(dueAt, sensor.ts + silence);
          continue;
        }
        if (!isCertain) return false;
        const range = { from: sensor.ts, to: sensor.ts };
        const isTaken =
          sensor.found === sensor.ts || this.#deps.scheduler.evaluate(sensor.subject, rule, range);
        if (!isTaken) isFound = false;
        dueAt = Math.min(dueAt, now + (isTaken ? Math.max(silence, SILENT_MS) : SILENT_MS));
      }
      if (isCertain) sensor.found = isFound ? sensor.ts : Number.NaN;
    }
    device.dueAt = dueAt;
    return true;
  }
}

/**
 * @param {Watched | undefined} known
 * @param {Rule[]} rules of the sensor now
 * @param {number | null} intervalMs of the sensor now
 * @returns {number} `found`, if it is what these rules find; else NaN
 */
function foundBy(known, rules, intervalMs) {
  if (!known || known.subject.sensor.intervalMs !== intervalMs) return Number.NaN;
  return rules.every((rule) => known.rules.includes(rule)) ? known.found : Number.NaN;
}
