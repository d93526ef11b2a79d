import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { MillraceError } from '../../common/errors.js';
import { brokenNameRule, identifyDevice } from '../../schema/ids.js';
import { sortMerge, sortMessage } from '../../schema/packed/series.js';
import { isBirth } from '../../schema/sparkplug-topics.js';
import { parseTopic } from '../../schema/topics.js';
import { keptBytes } from './backpressure/byte-budget.js';
import { isBarrier, queueKeyOf } from './backpressure/queue.js';
import { refusalOf, wholeRefusal } from './decode/refusals.js';
import { ONE_REFUSED, resultOf } from './ingest-result.js';
import { sensorOf } from './registry/cache.js';
import { isProof } from './registry/sessions.js';

/** @import { Logger } from 'pino' */
/** @import { ErrorCode, Refusal } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Topic } from '../../schema/topics.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { ProcessStats } from '../observability/process-stats.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Retry } from '../store/sending/retry.js' */
/** @import { Progress } from './acknowledgements.js' */
/** @import { AwaitingRegistration } from './awaiting-registration.js' */
/** @import { ByteBudget } from './backpressure/byte-budget.js' */
/** @import { DeviceQueue } from './backpressure/queue.js' */
/** @import { DeadLetterBox } from './dead-letter-box.js' */
/** @import { MessageDecoder } from './decode/index.js' */
/** @import { MessageBatch, SensorSamples } from './decode/message-batch.js' */
/** @import { Handlers, Kept } from './handlers/index.js' */
/** @import { Refusals } from '../store/dead-letters/writes.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Publish } from './index.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { MappedTopic, Mappings } from './mappings/index.js' */
/** @import { Receipt, ReceiptTimes } from './receipt-times.js' */
/** @import { RefusalNotices } from './refusal-notices.js' */
/** @import { Device, Sensor } from './registry/cache.js' */
/** @import { Registry } from './registry/index.js' */
/** @import { SampleWriter, Series } from './sample-writer.js' */
/** @import { UnmatchedTopics } from './unmatched-topics.js' */

/**
 * Publishes to devices with QoS 0. Does nothing while no broker is connected.
 *
 * @callback Send
 * @param {string} topic
 * @param {Buffer} payload
 * @param {boolean} [retain] default: false
 */

/**
 * A message from any source.
 *
 * @typedef {object} Message
 * @property {string} topic
 * @property {Buffer} payload out of `PayloadMemory`, because the byte budget counts all memory that it keeps alive
 * @property {string} [contentType] MQTT 5
 * @property {boolean} retained a copy that the broker retained: it does not show that the device is active now
 * @property {number} receivedAt epoch ms
 * @property {boolean} [again] the broker set the DUP flag: an earlier delivery may have been handled
 * @property {Receipt} [receipt] of this message, which a redelivery has too. A source passes it if its protocol may deliver a message again
 * @property {(refused: Refusals) => void} [onRefused] receives the refused elements before the message is settled. A
 *   source passes it if its protocol can report a reason
 * @property {AbortSignal} [signal] aborts when the sender disconnects; a message that has begun is finished
 * @property {(device: string, topic: string) => boolean} [permits] whether the sender may send for a device that a mapping names; missing: it may.
 *   Topics of the contract are checked before
 */

/**
 * The outcome of a message. `accepted`: its good measurements are committed, its bad ones are in a dead letter. `refused`: all of it
 * is in a dead letter. `unknown_topic`: its topic is not a topic of Millrace, and no mapping reads it, so it is dropped.
 *
 * @typedef {'accepted' | 'refused' | 'unknown_topic'} Outcome
 */

/** @typedef {(message: Message) => Promise<Outcome>} HandleMessage */

/** Errors that leave a message unacknowledged. @type {Set<ErrorCode>} */
const UNSETTLED = new Set(['unavailable', 'forbidden']);
/**
 * Looks at the samples of a message, for alarms.
 *
 * @typedef {object} SampleObserver
 * @property {(device: Device, series: Series[], seenAt: number | null) => Promise<void> | undefined} note notes, next to the commit and before
 *   the acknowledgement, what has to be evaluated after a crash; undefined: nothing
 * @property {(device: Device, series: Series[]) => void} observe called after the commit; it returns at once
 */

/**
 * When measurements arrived.
 *
 * @typedef {object} Arrival
 * @property {number} receivedAt epoch ms, from which their relative times count
 * @property {boolean} isRetained a retained message or a replay: neither shows that the device is active
 * @property {Receipt} receipt
 * @property {boolean} proves whether the message proves that the device is there now
 */

/** A wait checks this often whether the process ends, in ms. */
const MAX_SLEEP_MS = 1000;

/** Cached identities, at about 300 bytes each. */
const MAX_IDENTITIES = 100_000;

/**
 * The path of a message from its source to its acknowledgement. This class calls the steps in this order; the source itself
 * acknowledges:
 *
 *     receive -> limit -> decode -> validate -> resolve -> write -> publish -> acknowledge
 *
 * A registered device that sends good, timely measurements stays on this path. The branches are `#register` (new sensors), `#refuse`
 * (dead letters), the late writer in `#write`, and the handlers of births, statuses and Sparkplug.
 *
 * Every message passes here, so each layer costs CPU. Three measures saved an eighth of ingest's CPU at one sample a message:
 * functions are async only where they await, known sensors are found synchronously, and one promise needs no Promise.all.
 */
export class IngestPipeline {
  #deps;
  #clock;
  #metrics;
  #processStats;
  #maxMessageBytes;
  #takesSparkplug;
  #handlers;
  /** @type {SampleObserver | null} */
  #observer = null;
  /**
   * Caches the identity of each device name. An identity never changes. Computing it takes 4 µs (a SHA-1 with its buffers), a tenth of
   * ingest's CPU for a message of one sample.
   *
   * @type {LRUCache<string, Identity>}
   */
  #identities = new LRUCache({ max: MAX_IDENTITIES });
  /**
   * Messages of a device that was not in memory, by its id: settles when the last of them has its device. Later messages wait behind them,
   * so that values without a time get their instants in the order of arrival.
   *
   * @type {Map<string, Promise<Device | null>>}
   */
  #lookUps = new Map();

  /**
   * @param {object} context
   * @param {Config} context.config
   * @param {() => number} context.clock epoch ms
   * @param {Logger} context.logger
   * @param {Metrics} context.metrics
   * @param {ProcessStats} context.processStats
   * @param {object} deps
   * @param {Progress} deps.progress
   * @param {ByteBudget} deps.budget
   * @param {DeviceQueue} deps.deviceQueue
   * @param {MessageDecoder} deps.decoder
   * @param {Registry} deps.registry
   * @param {SampleWriter} deps.samples
   * @param {Pick<Store, 'write'>} deps.store
   * @param {ReceiptTimes} deps.receiptTimes
   * @param {DeadLetterBox} deps.deadLetters
   * @param {RefusalNotices} deps.notices
   * @param {Mappings} deps.mappings
   * @param {UnmatchedTopics} deps.unmatchedTopics
   * @param {AwaitingRegistration} deps.awaitingRegistration
   * @param {Retry} deps.retry
   * @param {ClockGuard} deps.clockGuard
   * @param {Publish} deps.publish
   * @param {(measurements: IngestPipeline) => Handlers} deps.createHandlers
   */
  constructor({ config, clock, logger, metrics, processStats }, deps) {
    this.#deps = { ...deps, logger };
    this.#clock = clock;
    this.#metrics = metrics;
    this.#processStats = processStats;
    this.#maxMessageBytes = config.ingest.maxMessageBytes;
    this.#takesSparkplug = config.sparkplug;
    this.#handlers = deps.createHandlers(this);
  }

  /**
   * The function that all message sources call. A source acknowledges the message when the promise resolves: every measurement
   * in it is committed or in a dead letter. The promise rejects if the process ends, or if the sender disconnects before the message
   * begins. Then the source must not acknowledge.
   *
   * @type {HandleMessage}
   */
  handleMessage = async (message) => {
    const began = this.#receive(message);
    const isTrusted = this.#deps.clockGuard.isTrusted;
    let isSettled = false;
    let result = 'unsettled';
    try {
      const admitted = this.#limit(message);
      if (admitted) await admitted;
      try {
        const isTimed = isTrusted && this.#deps.clockGuard.isTrusted;
        const outcome = await this.#route(isTimed ? message : await this.#receiveAgain(message, began));
        // A message without measurements did not check the clock, so it waits here while the clock is off.
        if (!this.#deps.clockGuard.isTrusted) await this.#deps.clockGuard.now();
        result = outcome === 'unknown_topic' ? 'unknown_topic' : 'settled';
        isSettled = outcome !== 'unknown_topic';
        return outcome;
      } finally {
        this.#deps.budget.leave(keptBytes(message.payload));
      }
    } finally {
      this.#deps.progress.end(message, isSettled);
      this.#metrics.messages.inc({ result });
      if (isSettled) this.#metrics.commitSeconds.observe((performance.now() - began) / 1000);
    }
  };

  /** Counts the message as unsettled. @param {Message} message @returns {number} ms, when it began */
  #receive(message) {
    this.#deps.progress.begin(message);
    return performance.now();
  }

  /**
   * Waits until the clock is right. By a wrong clock, good measurements would be refused, and those without a time would be stored at
   * a wrong one.
   *
   * @param {Message} message that arrived while the clock was wrong
   * @param {number} began by `performance.now()`, when it arrived
   * @returns {Promise<Message>} with its time of receipt by the right clock
   */
  async #receiveAgain(message, began) {
    const now = await this.#deps.clockGuard.now();
    return { ...message, receivedAt: now - Math.round(performance.now() - began) };
  }

  /** Waits for room in the byte budget. @param {Message} message @returns {Promise<void> | undefined} undefined: there is room at once */
  #limit(message) {
    return this.#deps.budget.enter(keptBytes(message.payload), message.signal);
  }

  /** Parses the topic, and handles the message after earlier births of its device. @param {Message} message @returns {Promise<Outcome>} */
  async #route(message) {
    const topic = parseTopic(message.topic) ?? this.#deps.mappings.match(message.topic);
    if (!topic || (topic.kind === 'sparkplug' && !this.#takesSparkplug)) {
      this.#deps.notices.unknownTopic(message.topic);
      this.#deps.unmatchedTopics.note(message);
      return 'unknown_topic';
    }
    if (topic.kind === 'mapped') return this.#routeMapped(message, topic);
    const identity = this.identify(topic.device);
    if (!identity) {
      const rule = `the device in its topic ${brokenNameRule(topic.device)}`;
      return this.#refuse(message, topic, wholeRefusal('bad_id', rule));
    }
    if (message.payload.length > this.#maxMessageBytes) {
      const rule = `must not be larger than MAX_MESSAGE_BYTES, ${this.#maxMessageBytes} bytes`;
      return this.#refuse(message, topic, wholeRefusal('too_large', rule));
    }
    try {
      return await this.#deps.deviceQueue.run(queueKeyOf(topic, identity), isBarrier(topic), () =>
        topic.kind === 'measurements'
          ? this.#handleMeasurements(message, identity, topic)
          : this.#handlers.handle(message, identity, topic),
      );
    } catch (error) {
      return this.#refuse(message, topic, this.#toRefusal(error, message));
    }
  }

  /** Handles a message on a topic of the mappings, whose payload may name the device. @param {Message} message @param {MappedTopic} topic @returns {Promise<Outcome>} */
  async #routeMapped(message, topic) {
    if (message.payload.length > this.#maxMessageBytes) {
      const rule = `must not be larger than MAX_MESSAGE_BYTES, ${this.#maxMessageBytes} bytes`;
      return this.#refuse(message, topic, wholeRefusal('too_large', rule));
    }
    try {
      return await this.#handlers.mapped.handle(message, topic);
    } catch (error) {
      return this.#refuse(message, topic, this.#toRefusal(error, message));
    }
  }

  /** The path of measurements. @param {Message} message @param {Identity} identity @param {Topic} topic @returns {Promise<Outcome>} */
  async #handleMeasurements(message, identity, topic) {
    const began = performance.now();
    const { payload, contentType, retained, receivedAt } = message;
    const receipt = message.receipt ?? { from: null };
    const batch = this.#deps.decoder.decode(payload, contentType, receivedAt);
    const isKnown = await this.store(identity, batch, {
      receivedAt,
      isRetained: retained,
      receipt,
      proves: isProof(message),
    });
    if (!isKnown || batch.refused.length > 0) {
      // A replay has to compute the same times.
      const kept = { ...message, receivedAt: receipt.from ?? receivedAt };
      if (!isKnown) this.#deps.awaitingRegistration.remember(identity.id, kept);
      await this.#deps.deadLetters.put(kept, topic.device, batch.refused);
    }
    this.noteSettled(batch, began);
    return batch.refused.length > 0 && batch.counts.samples === 0 ? 'refused' : 'accepted';
  }

  /**
   * Resolves, writes and publishes the good measurements of a batch.
   *
   * @param {Identity} identity
   * @param {MessageBatch} batch
   * @param {Arrival} arrival
   * @returns {Promise<boolean>} settles when the batch is committed; false: the device is not registered, so all of it is refused
   */
  async store(identity, batch, arrival) {
    const waiting = this.#lookUps.get(identity.id);
    const known = waiting ? null : this.#deps.registry.cache.peek(identity.id);
    const device = known ?? (batch.sensors.size > 0 ? await this.#lookUp(identity, waiting) : null);
    if (batch.untimed) {
      const { receivedAt, receipt } = arrival;
      const waitMs = this.#deps.receiptTimes.place(batch, identity, device, receivedAt, receipt);
      if (waitMs > 0) await this.#wait(waitMs);
    }
    if (batch.sensors.size === 0) return true;
    const seenAt = arrival.isRetained ? null : arrival.receivedAt;
    if (!device) {
      for (const ref of [...batch.sensors.keys()]) batch.refuseSensor(ref, 'unknown_device');
      return false;
    }
    const resolved = this.#resolve(device, batch);
    const series = Array.isArray(resolved) ? resolved : await resolved;
    this.#countMerged(batch, series);
    const noted = this.#observer?.note(device, series, seenAt);
    const written = this.#write(device, series, seenAt);
    const changed = noted ? (await Promise.all([written, noted]))[0] : await written;
    if (arrival.proves && device.state === 'offline') await this.#handlers.prove(device, arrival.receivedAt);
    this.#observer?.observe(device, series);
    this.#deps.publish(device, changed, series);
    this.#count(batch, series, seenAt);
    return true;
  }

  /**
   * @param {Identity} identity
   * @param {Promise<unknown>} [before] of the messages that arrived before
   * @returns {Promise<Device | null>} null: it is not registered
   * @throws {MillraceError} `registration_limit`
   */
  async #lookUp(identity, before) {
    const find = () => this.#deps.registry.device(identity);
    const found = before ? before.then(find, find) : find();
    this.#lookUps.set(identity.id, found);
    try {
      return await found;
    } finally {
      if (this.#lookUps.get(identity.id) === found) this.#lookUps.delete(identity.id);
    }
  }

  /** Waits until the clock reaches the instants of a message. @param {number} ms @throws {MillraceError} `unavailable`: the process ends */
  async #wait(ms) {
    for (let left = ms; left > 0; left -= MAX_SLEEP_MS) {
      await sleep(Math.min(left, MAX_SLEEP_MS), undefined, { ref: false });
      if (this.#deps.retry.isAborted) throw new MillraceError('unavailable');
    }
  }

  /** The connection to the broker broke: births of Sparkplug may have been missed. */
  forgetBirths() {
    this.#handlers.forgetBirths();
  }

  /** @param {SampleObserver | null} observer null: nobody looks at samples, and a message costs nothing more */
  setSampleObserver(observer) {
    this.#observer = observer;
  }

  /** @param {string} name or id of a device, as its topic has it @returns {Identity | null} null: it is not valid */
  identify(name) {
    const known = this.#identities.get(name);
    if (known) return known;
    const identity = identifyDevice(name);
    if (identity) this.#identities.set(name, identity);
    return identity;
  }

  /**
   * Finds the sensors of a batch. Only new ones make it wait.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @returns {Series[] | Promise<Series[]>} one for each sensor, even if the message has it by name and by id
   */
  #resolve(device, batch) {
    /** @type {Map<Sensor, SensorSamples>} */
    const found = new Map();
    /** @type {string[] | null} */
    let missing = null;
    for (const [ref, samples] of batch.sensors) {
      const known = sensorOf(device, ref);
      if (known) addSamples(found, known, samples);
      else if (missing) missing.push(ref);
      else missing = [ref];
    }
    if (!missing) return this.#toSeries(found, batch);
    return this.#register(device, batch, missing, found);
  }

  /**
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {string[]} refs of sensors that are not registered
   * @param {Map<Sensor, SensorSamples>} found samples of the registered ones
   */
  async #register(device, batch, refs, found) {
    const { known, refused } = await this.#deps.registry.register(device, refs);
    for (const [ref, code] of refused) batch.refuseSensor(ref, code);
    for (const [ref, sensor] of known)
      addSamples(found, sensor, /** @type {SensorSamples} */ (batch.sensors.get(ref)));
    return this.#toSeries(found, batch);
  }

  /**
   * @param {Map<Sensor, SensorSamples>} found
   * @param {MessageBatch} batch
   * @returns {Series[]} sorted, one sample for each instant
   */
  #toSeries(found, batch) {
    /** @type {Series[]} */
    const series = [];
    const sort = batch.lastCounts ? sortMessage : sortMerge;
    for (const [known, samples] of found) {
      const { times, values, conflicts } = sort(samples.times, samples.values);
      if (conflicts > 0) this.#metrics.conflicts.inc(conflicts);
      series.push({ known, sensor: known.bytes, times, values });
    }
    return series;
  }

  /**
   * Commits the samples, the newest values and when the device was last seen. None of the three waits for another.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @param {number | null} seenAt epoch ms
   * @returns {Promise<Sensor[]>} the sensors that have a newer value now
   */
  async #write(device, series, seenAt) {
    const [, changed] = await Promise.all([
      this.#deps.samples.write(device, series),
      this.#deps.store.write.latest(device, series.map(newestOf)),
      seenAt === null ? undefined : this.#deps.store.write.lastSeen(device, seenAt),
    ]);
    return changed;
  }

  /** Makes the whole message a dead letter. @param {Message} message @param {Topic | MappedTopic} topic @param {Refusal} refusal @returns {Promise<Outcome>} */
  async #refuse(message, topic, refusal) {
    if (topic.kind === 'sparkplug' && isBirth(topic.sparkplug.type)) this.#handlers.doubt(topic.sparkplug);
    await this.#deps.deadLetters.put(message, topic.device, [refusal]);
    this.#processStats.account(ONE_REFUSED);
    return 'refused';
  }

  /**
   * An unexpected error is a defect in Millrace. Without an acknowledgement the broker would deliver the message again, and the same
   * error would follow without end. A dead letter keeps the message until the defect is fixed.
   *
   * @param {unknown} error
   * @param {Message} message
   * @returns {Refusal}
   * @throws the same error if the message must stay unacknowledged: the database is unavailable, the process ends, or its sender may
   *   not send for the device
   */
  #toRefusal(error, { topic }) {
    if (error instanceof MillraceError && !UNSETTLED.has(error.code)) return refusalOf(error.code, error);
    if (error instanceof MillraceError || this.#deps.retry.isAborted) throw error;
    this.#deps.logger.error(
      { err: error, topic },
      'an unexpected error: the message is kept as a dead letter; please report this',
    );
    return refusalOf('rejected', error);
  }

  /** Samples of one sensor and one instant are stored as one, so `accepted` counts one. @param {MessageBatch} batch @param {Series[]} series */
  #countMerged({ counts }, series) {
    let stored = 0;
    for (const { times } of series) stored += times.length;
    counts.merged = counts.samples - stored;
    if (counts.merged > 0) this.#metrics.merged.inc(counts.merged);
    counts.samples = stored;
  }

  /** @param {MessageBatch} batch @param {Series[]} series @param {number | null} seenAt epoch ms */
  #count({ counts }, series, seenAt) {
    this.#metrics.samples.inc(counts.samples);
    // Replays are not counted in end-to-end latency, and neither are messages without samples.
    if (seenAt !== null && series.length > 0) {
      const waitedMs = Math.max(0, this.#clock() - newestOfAll(series));
      this.#metrics.endToEndSeconds.observe(waitedMs / 1000);
    }
    if (counts.skipped > 0) this.#metrics.skipped.inc(counts.skipped);
    if (counts.relative > 0) this.#metrics.relative.inc(counts.relative);
  }

  /** Counts a message of measurements for the dashboard. @param {MessageBatch} batch that is settled @param {number} began by `performance.now()` */
  noteSettled(batch, began) {
    this.#processStats.note(batch.account(), performance.now() - began);
  }

  /**
   * Stores the refused elements of an earlier message. Replaying twice writes the same rows.
   *
   * @param {Kept} kept
   * @param {Identity} identity
   * @param {Topic} topic of the contract
   * @returns {Promise<IngestResult>} settles when the good elements are committed
   */
  async replay(kept, identity, topic) {
    if (topic.kind !== 'measurements') return this.#handlers.replay(kept, identity, topic);
    const { payload, contentType, receivedAt, now, isRefused } = kept;
    const batch = this.#deps.decoder.decode(payload, contentType, receivedAt, now);
    await this.storeAgain(identity, batch, { receivedAt, isRefused });
    return resultOf(batch);
  }

  /**
   * Stores the refused measurements of an earlier message.
   *
   * @param {Identity} identity
   * @param {MessageBatch} batch is changed
   * @param {Pick<Kept, 'receivedAt' | 'isRefused'>} kept
   */
  async storeAgain(identity, batch, { receivedAt, isRefused }) {
    const receipt = { from: receivedAt };
    // All measurements count for the times of those that were refused.
    const device = this.#deps.registry.cache.peek(identity.id);
    this.#deps.receiptTimes.place(batch, identity, device, receivedAt, receipt);
    batch.untimed = null;
    if (isRefused) batch.keepOnly(isRefused);
    await this.store(identity, batch, { receivedAt, isRetained: true, receipt, proves: false });
  }

  /** Stores an earlier message on a mapped topic, by the mappings of now. @param {Kept} kept @param {MappedTopic} topic @returns {Promise<IngestResult>} as `replay` */
  replayMapped = (kept, topic) => this.#handlers.mapped.replay(kept, topic);
}

/** @param {Series} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: /** @type {number} */ (times[times.length - 1]),
  value: /** @type {number} */ (values[values.length - 1]),
});

/**
 * Adds samples to those that a message has under another reference to the same sensor.
 *
 * @param {Map<Sensor, SensorSamples>} found
 * @param {Sensor} sensor
 * @param {SensorSamples} samples
 */
function addSamples(found, sensor, samples) {
  const others = found.get(sensor);
  found.set(sensor, others ? inOrder(others, samples) : samples);
}

/** @param {SensorSamples} some @param {SensorSamples} others of the same sensor @returns {SensorSamples} all, in the order of the message */
function inOrder(some, others) {
  const indexes = [...some.indexes, ...others.indexes];
  const times = [...some.times, ...others.times];
  const values = [...some.values, ...others.values];
  const order = [...indexes.keys()].sort((a, b) => Number(indexes[a]) - Number(indexes[b]));
  const sorted = (/** @type {number[]} */ list) => order.map((place) => /** @type {number} */ (list[place]));
  return { times: sorted(times), values: sorted(values), indexes: sorted(indexes) };
}

/** @param {Series[]} series @returns {number} epoch ms of the newest sample */
function newestOfAll(series) {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times } of series) newest = Math.max(newest, /** @type {number} */ (times[times.length - 1]));
  return newest;
}
