import { forEachConcurrently } from '../../common/concurrency.js';
import { uuidText } from '../../schema/ids.js';
import { bucketOf, HOUR_MS, isLate } from '../../schema/rules.js';
import { iteratePages } from '../history/packing/index.js';
import { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE } from '../store/index.js';
import { createAnnouncedCompletion } from './announced-completion.js';
import { createClosedHours } from './closed-hours.js';
import { chunks, TopicRefused } from './kafka/sender.js';
import { ANNOUNCED_TOPICS, COMPLETED_TOPICS } from './kafka/topics.js';
import { ENCODED_AT_ONCE } from './topic-queue.js';

/** @import { Leases, Steps } from '../history/packing/index.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Store } from '../store/index.js' */
/** @import { OutboxKind } from '../store/outbox.js' */
/** @import { StoredBlock } from '../store/streaming.js' */
/** @import { KafkaSender, OutRecord } from './kafka/sender.js' */
/** @import { CompletedTopic, TopicKind } from './kafka/topics.js' */
/** @import { SentNotes } from './notes.js' */
/** @import { RecordMaker, Source } from './record-maker.js' */
/** @import { Names } from './records.js' */
/** @import { Schemas } from './schemas.js' */

/** Limit of devices that are completed concurrently. */
const DEVICES_AT_ONCE = 8;

/** Limit of newest values in one request to Kafka. */
const LATEST_AT_ONCE = 2000;

/** Time until which each topic is complete for one group of devices, in epoch ms. @typedef {Map<string, number>} Progress */

/** The kind of outbox entries for each topic. */
const KINDS = /** @type {Record<Exclude<CompletedTopic, 'batches'>, OutboxKind>} */ (
  Object.fromEntries(Object.entries(ANNOUNCED_TOPICS).map(([kind, topic]) => [topic, kind]))
);

/** @param {Progress} progress @param {string} topic */
const untilOf = (progress, topic) => /** @type {number} */ (progress.get(topic));

/** @param {Progress} progress @returns {number} epoch ms; all records before this time are in all topics */
const leastOf = (progress) => Math.min(...COMPLETED_TOPICS.map((topic) => untilOf(progress, topic)));

/**
 * Limit in bytes of the blocks of a device and hour that are sorted by time in memory. Beyond it, they are sorted and sent in
 * several portions. An hour of a device usually stays below it.
 */
const SORTED_BYTES = 8 * 1024 * 1024;

/**
 * Completes the topics of Kafka when an hour has closed. It compares the digests of each device's blocks with the notes of sent
 * blocks, and sends the missing blocks. The queue had no room for a missing block, or the process was killed before it sent the
 * block. Hours of devices with late messages are compared again. Then a watermark is sent: the topic has every block of the
 * hours before it. Each topic has its own progress. So a topic that Kafka refuses delays no other topic, and is completed hour
 * by hour when it accepts records again.
 *
 * The watermark is exact for the same reason as packing: a message that may be committed after the comparison is late, and
 * ingest notes it before the acknowledgement.
 *
 * @param {object} deps
 * @param {Pick<Store, 'streaming' | 'devices' | 'fleet' | 'events' | 'deadLetters' | 'alarms'>} deps.store
 * @param {number} deps.groups number of groups of devices (`LATEST_GROUPS`)
 * @param {Pick<ClockGuard, 'now'>} deps.clock
 * @param {Steps} deps.steps
 * @param {Leases} deps.leases
 * @param {KafkaSender} deps.sender used only by the completion; it waits for Kafka, but not for a topic that Kafka refuses
 * @param {Pick<Schemas, 'load'>} deps.schemas
 * @param {RecordMaker} deps.records
 * @param {SentNotes} deps.notes
 * @param {boolean} deps.sendsLatest
 * @param {{ onCompleted: (blocks: number) => void, onStreamed: (group: number, until: number) => void }} deps.observer
 */
export function createCompletion(deps) {
  const { store, groups, clock, steps, leases, sender, schemas, records, notes, sendsLatest, observer } =
    deps;
  const { streaming } = store;
  /** Topics that Kafka refused in this check. The next check tries these topics again. @type {Set<TopicKind>} */
  const refused = new Set();
  /** Groups whose last watermark was refused. @type {Set<number>} */
  const unmarked = new Set();
  const sendAnnounced = createAnnouncedCompletion({ store, steps, records, mustSend });

  /** @param {number} group @param {Buffer} device 16 bytes @returns {Promise<Names>} */
  async function namesOf(group, device) {
    const key = { group, bytes: device };
    const row = await steps.run(() => store.devices.device(key));
    const sensors = new Map(
      (await steps.run(() => store.devices.sensors(key))).map(({ id, name }) => [id, name]),
    );
    return { id: uuidText(device), name: row?.name ?? null, sensor: (id) => sensors.get(id) ?? null };
  }

  /**
   * Sends blocks of one device and hour in order of time, and notes their digests as sent.
   *
   * @param {{ device: Buffer, bucket: number, names: Names, source: Source }} of
   * @param {StoredBlock[]} blocks
   */
  async function send({ device, bucket, names, source }, blocks) {
    blocks.sort((a, b) => a.ts - b.ts || a.digest.compare(b.digest));
    /** @type {OutRecord[]} */
    let made = [];
    let bytes = 0;
    for (const [index, { digest, samples, writtenAt }] of blocks.entries()) {
      const block = { bucket, digest, samples, committedAt: writtenAt, late: isLate(bucket, writtenAt) };
      for (const record of records.ofBlock(block, names, source)) made.push(record);
      bytes += samples.length;
      if (bytes < ENCODED_AT_ONCE && index < blocks.length - 1) continue;
      for (const some of chunks(made)) await mustSend(some);
      made = [];
      bytes = 0;
    }
    for (let from = 0; from < blocks.length; from += MAX_DIGESTS_PER_NOTE) {
      const digests = Buffer.concat(
        blocks.slice(from, from + MAX_DIGESTS_PER_NOTE).map(({ digest }) => digest),
      );
      await steps.run(() => streaming.writeNote(device, bucket, digests));
    }
  }

  /** @param {Parameters<KafkaSender['send']>[0]} some */
  async function mustSend(some) {
    if (!(await sender.send(some))) throw new Stopped();
  }

  /**
   * Sends the wanted blocks of a device in one hour, in order of time.
   *
   * @param {number} group
   * @param {Buffer} device 16 bytes
   * @param {number} bucket epoch ms
   * @param {Source} source
   * @param {(digest: Buffer) => boolean} isWanted
   * @returns {Promise<number>} number of sent blocks
   */
  async function sendHour(group, device, bucket, source, isWanted) {
    const of = { device, bucket, source, names: await namesOf(group, device) };
    /** @type {StoredBlock[]} */
    let held = [];
    let bytes = 0;
    let sent = 0;
    for (const part of await steps.run(() => streaming.parts(device, bucket))) {
      const pages = iteratePages((after) =>
        steps.run(() => streaming.blockPage(device, bucket, part, { after })),
      );
      for await (const block of pages) {
        if (!isWanted(block.digest)) continue;
        held.push(block);
        bytes += block.samples.length;
        sent++;
        if (bytes < SORTED_BYTES) continue;
        await send(of, held);
        held = [];
        bytes = 0;
      }
    }
    await send(of, held);
    return sent;
  }

  /**
   * @param {number} group
   * @param {Buffer} device 16 bytes
   * @param {number} bucket epoch ms
   * @param {(device: Buffer) => void} onMeasured called if the device has a block in the hour
   */
  async function completeHour(group, device, bucket, onMeasured) {
    const [stored, sent] = await Promise.all([
      steps.run(() => streaming.digests(device, bucket)),
      steps.run(() => streaming.notes(device, bucket)),
    ]);
    const missing = [...stored].filter((digest) => !sent.has(digest));
    if (missing.length > 0) await sendMissing(group, device, bucket, missing);
    if (stored.size > 0) onMeasured(device);
  }

  /**
   * @param {number} group
   * @param {Buffer} device 16 bytes
   * @param {number} bucket epoch ms
   * @param {string[]} missing digests, as hex
   */
  async function sendMissing(group, device, bucket, missing) {
    const unread = new Set(missing);
    const count = await sendHour(group, device, bucket, 'completion', (digest) =>
      unread.delete(digest.toString('hex', 0, DIGEST_BYTES)),
    );
    observer.onCompleted(count);
    if (unread.size > 0)
      throw new Incomplete(device, bucket, { unread: unread.size, missing: missing.length });
  }

  /** @param {number} group @param {Buffer} device 16 bytes @returns {Promise<OutRecord[]>} */
  async function latestRecords(group, device) {
    const rows = await steps.run(() => store.fleet.latestOfDevice({ group, bytes: device }));
    return rows.flatMap((row) =>
      row.ts === null || row.value === null
        ? []
        : [
            records.ofLatest({
              device_id: uuidText(device),
              device: row.deviceName,
              sensor_id: row.id,
              sensor: row.name,
              type: row.type,
              unit: row.unit,
              site: row.site,
              ts: row.ts,
              value: row.value,
            }),
          ],
    );
  }

  /**
   * Sends the newest values of many devices in one request. One request for each of 250,000 devices would take longer than an
   * hour.
   *
   * @param {number} group
   * @param {Iterable<Buffer> | AsyncIterable<Buffer>} devices
   */
  async function sendLatest(group, devices) {
    /** @type {OutRecord[]} */
    let waiting = [];
    const flush = async () => {
      const some = waiting;
      waiting = [];
      for (const part of chunks(some)) await mustSend(part);
    };
    await forEachConcurrently(DEVICES_AT_ONCE, devices, async (device) => {
      waiting.push(...(await latestRecords(group, device)));
      if (waiting.length >= LATEST_AT_ONCE) await flush();
    });
    await flush();
  }

  /** @param {number} group @param {number} hour epoch ms @param {(device: Buffer) => void} onMeasured */
  async function completeBatches(group, hour, onMeasured) {
    await forEachConcurrently(
      DEVICES_AT_ONCE,
      iteratePages((after) => steps.run(() => streaming.devicePage(group, null, after))),
      (device) => completeHour(group, device, hour, onMeasured),
    );
    await forEachConcurrently(
      DEVICES_AT_ONCE,
      iteratePages((after) => steps.run(() => streaming.lateArrivalPage(group, hour, after))),
      ({ device, bucket }) => completeHour(group, device, bucket, onMeasured),
    );
  }

  /**
   * Completes the batches of an hour, then the newest values of each device that measured in the hour. A process may have ended
   * before it sent these values, or two processes may have sent them in another order. If Kafka refused the topic `latest`
   * before, or the topic is new, it gets the values of all devices.
   *
   * @param {number} group
   * @param {number} hour epoch ms
   * @param {Progress} progress
   */
  async function completeWithLatest(group, hour, progress) {
    const isBehind = (progress.get('latest') ?? 0) < hour;
    /**
     * Devices with a block in the hour, by id. The map removes repetitions, because a device may have late messages of many
     * hours.
     *
     * @type {Map<string, Buffer>}
     */
    const measured = new Map();
    await completeBatches(group, hour, (device) => {
      if (sendsLatest && !isBehind) measured.set(device.toString('latin1'), device);
    });
    if (!sendsLatest) return;
    const devices = isBehind
      ? iteratePages((after) => steps.run(() => streaming.devicePage(group, null, after)))
      : measured.values();
    await unlessRefused('latest', () => sendLatest(group, devices));
    if (!refused.has('latest')) await steps.run(() => streaming.writeTopic(group, 'latest', hour + HOUR_MS));
  }

  /** @param {TopicKind} topic @param {() => Promise<unknown>} work @returns {Promise<boolean>} false: Kafka refuses the topic */
  async function unlessRefused(topic, work) {
    if (refused.has(topic)) return false;
    try {
      await schemas.load(topic);
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof TopicRefused)) throw error;
      refused.add(topic);
      return false;
    }
  }

  /** @param {CompletedTopic} topic @param {number} group @param {number} hour epoch ms @param {Progress} progress */
  async function completeTopic(topic, group, hour, progress) {
    if (topic === 'batches') await completeWithLatest(group, hour, progress);
    else await sendAnnounced(group, hour, KINDS[topic], 'completion');
  }

  /** @param {number} group @param {Progress} progress */
  async function sendWatermark(group, progress) {
    const topics = Object.fromEntries(COMPLETED_TOPICS.map((topic) => [topic, untilOf(progress, topic)]));
    const isSent = await unlessRefused('watermarks', () =>
      mustSend([records.ofWatermark({ shard: group, shards: groups, until: leastOf(progress), topics })]),
    );
    if (isSent) unmarked.delete(group);
    else unmarked.add(group);
  }

  /**
   * Completes the topics whose progress is at `hour`.
   *
   * @param {number} group
   * @param {number} hour start of a closed hour, in epoch ms
   * @returns {Promise<number>} earliest hour that a topic needs next, in epoch ms; infinite if Kafka refuses all topics
   */
  async function completeGroup(group, hour) {
    await notes.writeBefore(hour + HOUR_MS);
    const progress = await readProgress(group);
    const completed = [];
    for (const topic of COMPLETED_TOPICS) {
      if (untilOf(progress, topic) !== hour) continue;
      if (await unlessRefused(topic, () => completeTopic(topic, group, hour, progress)))
        completed.push(topic);
    }
    const until = hour + HOUR_MS;
    for (const topic of completed) progress.set(topic, until);
    if (completed.length > 0) await sendWatermark(group, progress);
    for (const topic of completed) await steps.run(() => streaming.writeTopic(group, topic, until));
    await steps.run(() => streaming.writeStreamed(group, leastOf(progress)));
    observer.onStreamed(group, leastOf(progress));
    return nextHour(progress);
  }

  /** @param {number} group @returns {Promise<Progress>} without `latest`, if that topic was never complete */
  async function readProgress(group) {
    const least = await streamedUntil(group);
    const progress = new Map(await steps.run(() => streaming.topicsUntil(group)));
    for (const topic of COMPLETED_TOPICS) if (!progress.has(topic)) progress.set(topic, least);
    return progress;
  }

  /** @param {Progress} progress */
  const nextHour = (progress) =>
    Math.min(
      ...COMPLETED_TOPICS.filter((topic) => !refused.has(topic)).map((topic) => untilOf(progress, topic)),
    );

  /** Sends the watermarks that were refused before. */
  async function sendUnmarked() {
    for (const group of [...unmarked])
      await leases.hold(group, async () => sendWatermark(group, await readProgress(group)));
  }

  /**
   * Reads until when the topics of a group are complete.
   *
   * @param {number} group
   * @returns {Promise<number>} epoch ms; for a new group: the hour in which streaming was first turned on
   */
  async function streamedUntil(group) {
    const found = await steps.run(() => streaming.streamedUntil(group));
    if (found !== null) return found;
    const begin = bucketOf(await clock.now());
    await steps.run(() => streaming.writeStreamed(group, begin));
    return begin;
  }

  const closedHours = createClosedHours({
    groups,
    clock,
    steps,
    leases,
    async readUntil(group) {
      const progress = await readProgress(group);
      observer.onStreamed(group, leastOf(progress));
      return nextHour(progress);
    },
    completeHour: completeGroup,
    onUntil: () => {},
  });

  return {
    /**
     * Stores the start of streaming before the first message is accepted. So every later commit is completed, even if this
     * process ends early.
     */
    async begin() {
      for (let group = 0; group < groups; group++) await streamedUntil(group);
    },

    /** Completes all closed hours that no other process is completing. A topic that Kafka refuses does not delay the other topics. */
    async completeDue() {
      refused.clear();
      await closedHours.completeDue();
      await sendUnmarked();
    },

    /**
     * Sends all blocks of a range of hours again, and the events, dead letters and alarms that were committed in these hours.
     * History has the samples of expired blocks, but a replay does not send them.
     *
     * @param {{ from: number, to: number }} range epoch ms; each hour that overlaps the range is sent completely
     * @param {(blocks: number) => void} onProgress
     * @returns {Promise<{ blocks: number, others: number }>} number of sent blocks, and of sent events, dead letters and alarms
     * @throws {TopicRefused}
     */
    async replay({ from, to }, onProgress) {
      for (const topic of COMPLETED_TOPICS) await schemas.load(topic);
      let sent = 0;
      let others = 0;
      for (let hour = bucketOf(from); hour < to; hour += HOUR_MS) {
        for (let group = 0; group < groups; group++) {
          await forEachConcurrently(
            DEVICES_AT_ONCE,
            iteratePages((after) => steps.run(() => streaming.devicePage(group, null, after))),
            async (device) => {
              sent += await sendHour(group, device, hour, 'replay', () => true);
              onProgress(sent);
            },
          );
          for (const kind of Object.values(KINDS)) others += await sendAnnounced(group, hour, kind, 'replay');
        }
      }
      return { blocks: sent, others };
    },
  };
}

/** @typedef {ReturnType<typeof createCompletion>} Completion */

/** Thrown if a read of an hour did not return all missing blocks. No watermark is sent then, and the next check compares the hour again. */
class Incomplete extends Error {
  /** @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {{ unread: number, missing: number }} counts */
  constructor(device, bucket, { unread, missing }) {
    const hour = new Date(bucket).toISOString();
    super(
      `${unread} of ${missing} missing blocks of device ${uuidText(device)} were not read in the hour ${hour}`,
    );
    this.name = 'Incomplete';
  }
}

/** Thrown if the process ends before Kafka has received the records. */
class Stopped extends Error {
  constructor() {
    super('this process ends before Kafka took the records');
    this.name = 'Stopped';
  }
}
