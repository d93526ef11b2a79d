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
    try {
      const now = performance.now();
      if (now - this.#renewedAt >= RENEW_EVERY_MS) {
        // A failure leaves the time as it was, so the next round tries again.
        await this.#renew();
        this.#renewedAt = now;
      }
      for (const [group, held] of this.#held) {
        const isOld = performance.now() - held.readAt >= this.#rereadMs;
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
    held.generation = generation;
    await this.#deps.takeOverOpenEpisodes(group);
    // After a failure the next round reads the group again.
    held.readAt = performance.now();
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
