import { forEachConcurrently } from '../../common/concurrency.ts';
import { uuidText } from '../../schema/ids.ts';
import { bucketOf, HOUR_MS, isLate } from '../../schema/rules.ts';
import { iteratePages, type Leases, type Steps } from '../history/packing/index.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE, type Store } from '../store/index.ts';
import type { OutboxKind } from '../store/outbox.ts';
import type { StoredBlock } from '../store/streaming.ts';
import { createAnnouncedCompletion } from './announced-completion.ts';
import { createClosedHours } from './closed-hours.ts';
import { chunks, type KafkaSender, type OutRecord, TopicRefused } from './kafka/sender.ts';
import { ANNOUNCED_TOPICS, COMPLETED_TOPICS, type CompletedTopic, type TopicKind } from './kafka/topics.ts';
import type { SentNotes } from './notes.ts';
import type { RecordMaker, Source } from './record-maker.ts';
import type { Names } from './records.ts';
import type { Schemas } from './schemas.ts';
import { ENCODED_AT_ONCE } from './topic-queue.ts';

/** Limit of devices that are completed concurrently. */
const DEVICES_AT_ONCE = 8;

const LATEST_AT_ONCE = 2000;

type Progress = Map<string, number>;

const KINDS = Object.fromEntries(
  Object.entries(ANNOUNCED_TOPICS).map(([kind, topic]) => [topic, kind]),
) as Record<Exclude<CompletedTopic, 'batches'>, OutboxKind>;

const untilOf = (progress: Progress, topic: string) => progress.get(topic) as number;

const leastOf = (progress: Progress): number =>
  Math.min(...COMPLETED_TOPICS.map((topic) => untilOf(progress, topic)));

/** In bytes, of a device and hour. More blocks than this are sorted by time and sent in several portions, which is rare. */
const SORTED_BYTES = 8 * 1024 * 1024;

/**
 * Completes the topics of Kafka when an hour has closed: it sends the blocks of each device whose digests the notes of sent blocks lack.
 * The queue had no room for them, or the process was killed before. Hours of devices with late messages are compared again. Then a
 * watermark is sent: the topic has every block of earlier hours. Each topic has its own progress, so a topic that Kafka refuses delays no
 * other topic. The watermark is exact for the same reason as packing: a message that may be committed after the comparison is late, and
 * ingest notes it before the acknowledgement.
 */
export function createCompletion(deps: {
  store: Pick<Store, 'streaming' | 'devices' | 'fleet' | 'events' | 'deadLetters' | 'alarms'>;
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  leases: Leases;
  /** used by nothing else; it waits for Kafka, but not for a topic that Kafka refuses */
  sender: KafkaSender;
  schemas: Pick<Schemas, 'load'>;
  records: RecordMaker;
  notes: SentNotes;
  sendsLatest: boolean;
  observer: { onCompleted: (blocks: number) => void; onStreamed: (group: number, until: number) => void };
}) {
  const { store, groups, clock, steps, leases, sender, schemas, records, notes, sendsLatest, observer } =
    deps;
  const { streaming } = store;
  /** Kafka refused these topics in this check. The next check tries them again. */
  const refused: Set<TopicKind> = new Set();
  /** Groups whose last watermark was refused. */
  const unmarked: Set<number> = new Set();
  const sendAnnounced = createAnnouncedCompletion({ store, steps, records, mustSend });

  async function namesOf(group: number, device: Buffer): Promise<Names> {
    const key = { group, bytes: device };
    const row = await steps.run(() => store.devices.device(key));
    const sensors = new Map(
      (await steps.run(() => store.devices.sensors(key))).map(({ id, name }) => [id, name]),
    );
    return { id: uuidText(device), name: row?.name ?? null, sensor: (id) => sensors.get(id) ?? null };
  }

  /** Also notes the digests as sent. */
  async function send(
    { device, bucket, names, source }: { device: Buffer; bucket: number; names: Names; source: Source },
    blocks: StoredBlock[],
  ) {
    blocks.sort((a, b) => a.ts - b.ts || a.digest.compare(b.digest));
    let made: OutRecord[] = [];
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

  async function mustSend(some: OutRecord[]) {
    if (!(await sender.send(some))) throw new Stopped();
  }

  /** Blocks are sent in order of time. `bucket`: epoch ms. Returns the number of sent blocks. */
  async function sendHour(
    group: number,
    device: Buffer,
    bucket: number,
    source: Source,
    isWanted: (digest: Buffer) => boolean,
  ): Promise<number> {
    const of = { device, bucket, source, names: await namesOf(group, device) };
    let held: StoredBlock[] = [];
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

  /** `onMeasured` is called if the device has a block in the hour. */
  async function completeHour(
    group: number,
    device: Buffer,
    bucket: number,
    onMeasured: (device: Buffer) => void,
  ) {
    const [stored, sent] = await Promise.all([
      steps.run(() => streaming.digests(device, bucket)),
      steps.run(() => streaming.notes(device, bucket)),
    ]);
    const missing = [...stored].filter((digest) => !sent.has(digest));
    if (missing.length > 0) await sendMissing(group, device, bucket, missing);
    if (stored.size > 0) onMeasured(device);
  }

  async function sendMissing(group: number, device: Buffer, bucket: number, missing: string[]) {
    const unread = new Set(missing);
    const count = await sendHour(group, device, bucket, 'completion', (digest) =>
      unread.delete(digest.toString('hex', 0, DIGEST_BYTES)),
    );
    observer.onCompleted(count);
    if (unread.size > 0)
      throw new Incomplete(device, bucket, { unread: unread.size, missing: missing.length });
  }

  async function latestRecords(group: number, device: Buffer): Promise<OutRecord[]> {
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

  /** One request for each of 250,000 devices would take longer than an hour. */
  async function sendLatest(group: number, devices: Iterable<Buffer> | AsyncIterable<Buffer>) {
    let waiting: OutRecord[] = [];
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

  async function completeBatches(group: number, hour: number, onMeasured: (device: Buffer) => void) {
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
   * Sends the newest values after the batches. A process may have ended before it sent these values, or two processes may have sent them in
   * another order. If Kafka refused the topic `latest` before, or the topic is new, it gets the values of all devices.
   */
  async function completeWithLatest(group: number, hour: number, progress: Progress) {
    const isBehind = (progress.get('latest') ?? 0) < hour;
    /** By id, because a device may have late messages of many hours. */
    const measured: Map<string, Buffer> = new Map();
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

  /** False: Kafka refuses the topic. */
  async function unlessRefused(topic: TopicKind, work: () => Promise<unknown>): Promise<boolean> {
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

  async function completeTopic(topic: CompletedTopic, group: number, hour: number, progress: Progress) {
    if (topic === 'batches') await completeWithLatest(group, hour, progress);
    else await sendAnnounced(group, hour, KINDS[topic], 'completion');
  }

  async function sendWatermark(group: number, progress: Progress) {
    const topics = Object.fromEntries(COMPLETED_TOPICS.map((topic) => [topic, untilOf(progress, topic)]));
    const isSent = await unlessRefused('watermarks', () =>
      mustSend([records.ofWatermark({ shard: group, shards: groups, until: leastOf(progress), topics })]),
    );
    if (isSent) unmarked.delete(group);
    else unmarked.add(group);
  }

  /**
   * Completes the topics whose progress is at `hour`. Returns the earliest hour that a topic needs next, in epoch ms; infinite if Kafka
   * refuses all topics.
   */
  async function completeGroup(group: number, hour: number): Promise<number> {
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

  /** Lacks `latest` if that topic was never complete. */
  async function readProgress(group: number): Promise<Progress> {
    const least = await streamedUntil(group);
    const progress = new Map(await steps.run(() => streaming.topicsUntil(group)));
    for (const topic of COMPLETED_TOPICS) if (!progress.has(topic)) progress.set(topic, least);
    return progress;
  }

  const nextHour = (progress: Progress) =>
    Math.min(
      ...COMPLETED_TOPICS.filter((topic) => !refused.has(topic)).map((topic) => untilOf(progress, topic)),
    );

  async function sendUnmarked() {
    for (const group of [...unmarked])
      await leases.hold(group, async () => sendWatermark(group, await readProgress(group)));
  }

  /** In epoch ms; for a new group: the hour in which streaming was first turned on. */
  async function streamedUntil(group: number): Promise<number> {
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
    /** Must run before the first message is accepted. So every later commit is completed, even if this process ends early. */
    async begin() {
      for (let group = 0; group < groups; group++) await streamedUntil(group);
    },

    /** A topic that Kafka refuses does not delay the other topics. */
    async completeDue() {
      refused.clear();
      await closedHours.completeDue();
      await sendUnmarked();
    },

    /**
     * Sends whole hours again that overlap the range (epoch ms): their blocks, and the items that were committed in them. History has the
     * samples of expired blocks, but a replay does not send them. Throws `TopicRefused`.
     */
    async replay(
      { from, to }: { from: number; to: number },
      onProgress: (blocks: number) => void,
    ): Promise<{ blocks: number; others: number }> {
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

/** A read of an hour did not return all missing blocks. No watermark is sent then, and the next check compares the hour again. */
class Incomplete extends Error {
  constructor(device: Buffer, bucket: number, { unread, missing }: { unread: number; missing: number }) {
    const hour = new Date(bucket).toISOString();
    super(
      `${unread} of ${missing} missing blocks of device ${uuidText(device)} were not read in the hour ${hour}`,
    );
    this.name = 'Incomplete';
  }
}

class Stopped extends Error {
  constructor() {
    super('this process ends before Kafka took the records');
    this.name = 'Stopped';
  }
}
