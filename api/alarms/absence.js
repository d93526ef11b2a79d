import { forEachConcurrently } from '../../common/concurrency.js';
import { uuidBytes } from '../../schema/ids.js';
import { DAY_MS } from '../../schema/rules.js';
import { covers, newestOf } from './rules/rule.js';
import { WatchedSensor } from './watched-sensor.js';

/** @import { Logger } from 'pino' */
/** @import { Device } from '../ingest/registry/cache.js' */
/** @import { UnwatchedTime } from '../observability/watched-time.js' */
/** @import { AlarmProgress } from '../store/alarms/progress.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { Store } from '../store/index.js' */
/** @import { EvaluationScheduler } from './evaluation/evaluation-scheduler.js' */
/** @import { RuleRegistry } from './rules/rule-registry.js' */
/** @import { Rule } from './rules/rule.js' */
/** @import { Watch } from './watched-sensor.js' */

/** A lease is renewed this often, in ms: three times before it expires. */
const RENEW_EVERY_MS = 5000;

/** Concurrent renewals of leases. One by one, 1,000 renewals take longer than a lease lasts. */
const LEASES_AT_ONCE = 16;

/**
 * Period in ms after which the sensors of a group are read again, because sensors are added and intervals
 * change.
 */
const REREAD_EVERY_MS = 60_000;

/**
 * Age in ms up to which periods without a watching process count. Only a rule that counts intervals can wait
 * longer.
 */
const UNWATCHED_MS = 31 * DAY_MS;

/**
 * The sensors of a device under rules of absence, by id.
 *
 * @typedef {object} WatchedDevice
 * @property {string} id
 * @property {Buffer} bytes
 * @property {Map<string, WatchedSensor>} sensors
 * @property {number} dueAt epoch ms at which the first of them may be absent
 */

/**
 * A group whose lease this process has.
 *
 * @typedef {object} HeldGroup
 * @property {Map<string, WatchedDevice>} devices
 * @property {number} readAt when its sensors were read, by `performance.now()`
 * @property {number} generation of the rules with which the sensors were read
 * @property {boolean} isTakenOver whether open episodes were taken over after the last read of the sensors
 * @property {Watch} watch since this process took the lease
 */

/**
 * Detects silent sensors. Processes share the groups of devices by leases. The holder of a lease knows for
 * each sensor when its silence becomes too long, and then reads its newest value again. So an absence is
 * found in time, whichever process receives the sensor. After each read of the sensors of a group, the holder
 * also takes over the open episodes of the group. So the episodes of a process that ended continue.
 *
 * A process that cannot receive or commit samples must not judge silence, so it holds no lease.
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
  /**
   * Periods without a watching process, read once for all leases of one round.
   *
   * @type {Promise<Omit<Watch, 'since'>> | null}
   */
  #unwatched = null;
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
   * @param {() => boolean} deps.watches whether this process receives samples, and can commit them
   * @param {Pick<UnwatchedTime, 'read'>} deps.unwatchedTime
   * @param {() => number} deps.clock epoch ms
   * @param {Logger} deps.logger
   * @param {string} deps.owner identifier that no other process has
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

  /** Starts to check for silent sensors. */
  start() {
    this.#later();
  }

  /** Stops, and releases the leases. */
  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await this.#release();
  }

  /** The groups whose leases this process holds. */
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
    if (!this.#deps.watches()) return this.#release();
    await this.#renewIfDue();
    for (const group of [...this.#held.keys()]) {
      if (this.#stopped || !this.#deps.watches()) return;
      await this.#try(() => this.#look(group));
      await this.#try(() => this.#takeOver(group));
      await this.#renewIfDue();
    }
  }

  /** Releases the leases. A lease that cannot be released expires. */
  async #release() {
    const groups = [...this.#held.keys()];
    this.#held.clear();
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await Promise.all(groups.map((group) => this.#deps.leases.release(group, this.#owner).catch(() => {})));
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
    this.#unwatched = null;
    await forEachConcurrently(LEASES_AT_ONCE, Array(this.#groups).keys(), async (group) => {
      if (!this.#stopped) await this.#try(() => this.#renew(group));
    });
    this.#renewedAt = performance.now();
  }

  /** @param {number} group */
  async #renew(group) {
    const { leases, clock } = this.#deps;
    if (this.#held.has(group)) {
      if (!(await leases.renew(group, this.#owner))) this.#held.delete(group);
      return;
    }
    const since = clock();
    if (!(await leases.take(group, this.#owner))) return;
    this.#unwatched ??= this.#readUnwatched(since);
    const watch = { since, ...(await this.#unwatched) };
    const never = { readAt: Number.NEGATIVE_INFINITY, generation: -1, isTakenOver: false };
    this.#held.set(group, { devices: new Map(), watch, ...never });
  }

  /**
   * Reads the periods without a watching process. This process watches from now on, so the result stays
   * complete.
   *
   * @param {number} now epoch ms
   * @returns {Promise<Omit<Watch, 'since'>>}
   */
  async #readUnwatched(now) {
    const from = now - UNWATCHED_MS;
    const { since, spans } = await this.#deps.unwatchedTime.read({ from, to: now });
    return {
      unwatched: spans,
      recordedFrom: since === null ? Number.POSITIVE_INFINITY : Math.max(since, from),
    };
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
    // After a failure the next round takes over again.
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
    const known = before.get(row.deviceId)?.sensors.get(row.id);
    const { deviceId: id } = row;
    const device = devices.get(id) ?? { id, bytes, sensors: new Map(), dueAt: 0 };
    const subject = {
      device: { id, bytes, group, name: row.deviceName },
      sensor: { ...row, bytes: uuidBytes(row.id) },
    };
    device.sensors.set(row.id, new WatchedSensor(subject, own, row.ts, known));
    devices.set(id, device);
  }

  /** @param {number} group */
  async #check(group) {
    const held = this.#held.get(group);
    if (!held) return;
    const now = this.#deps.clock();
    const due = [...held.devices.values()].filter(({ dueAt }) => dueAt <= now);
    for (const device of due) {
      if (this.#stopped || !this.#deps.watches()) return;
      const asked = { watch: held.watch, now: this.#deps.clock() };
      const inMemory = this.#deps.peek(device.id)?.sensors;
      if (this.#judge(device, { ...asked, newest: inMemory, isCertain: false })) continue;
      const rows = await this.#deps.store.devices.sensors({ group, bytes: device.bytes });
      const newest = new Map(rows.map((row) => [row.id, row]));
      // A read may have waited for an unavailable database. Then samples may still wait for it too.
      if (this.#deps.watches()) this.#judge(device, { ...asked, newest, isCertain: true });
    }
  }

  /**
   * @param {WatchedDevice} device
   * @param {object} known
   * @param {Watch} known.watch
   * @param {Map<string, { ts: number | null }> | undefined} known.newest sample of each sensor, as far as it is known
   * @param {number} known.now epoch ms, before the samples were read
   * @param {boolean} known.isCertain the database was asked
   * @returns {boolean} false: a sensor may be absent, and the database has to be asked
   */
  #judge(device, { watch, newest, now, isCertain }) {
    let dueAt = Number.POSITIVE_INFINITY;
    for (const [id, sensor] of device.sensors) {
      sensor.ts = Math.max(sensor.ts, newest?.get(id)?.ts ?? Number.NEGATIVE_INFINITY);
      const next = sensor.judge(now, watch, isCertain, (rule, range) =>
        this.#deps.scheduler.evaluate(sensor.subject, rule, range),
      );
      if (next === null) return false;
      dueAt = Math.min(dueAt, next);
    }
    device.dueAt = dueAt;
    return true;
  }
}
