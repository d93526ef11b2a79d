import { forEachConcurrently } from '../../../../common/concurrency.ts';
import { type DeviceBytes, uuidText } from '../../../../schema/ids.ts';
import { isLate } from '../../../../schema/rules.ts';
import { iteratePages } from '../../../background/index.ts';
import type { Names } from '../../shared/blocks/records.ts';
import type { StoredBlock } from '../../shared/blocks/store.ts';
import type { Source } from '../record-maker.ts';
import { chunks, type OutRecord } from '../sender.ts';
import { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE } from '../store.ts';
import { ENCODED_AT_ONCE } from '../topic-queue.ts';
import { DEVICES_AT_ONCE, devicesOf, type Sending } from './sending.ts';

/** In bytes, of a device and hour. More blocks than this are sorted by time and sent in several portions, which is rare. */
const SORTED_BYTES = 8 * 1024 * 1024;

/** Sends the blocks of a closed hour whose digests the notes of sent blocks lack. */
export class BlockCompletion {
  #sending;
  #observer;

  constructor(sending: Sending, observer: { onCompleted: (blocks: number) => void }) {
    this.#sending = sending;
    this.#observer = observer;
  }

  async complete(group: number, hour: number, onMeasured: (device: DeviceBytes) => void) {
    const { steps, streaming } = this.#sending;
    await forEachConcurrently(DEVICES_AT_ONCE, devicesOf(this.#sending, group), (device) =>
      this.#completeHour(group, device, hour, onMeasured),
    );
    await forEachConcurrently(
      DEVICES_AT_ONCE,
      iteratePages((after) => steps.run(() => streaming.lateArrivalPage(group, hour, after))),
      ({ device, bucket }) => this.#completeHour(group, device, bucket, onMeasured),
    );
  }

  /** Blocks are sent in order of time. `bucket`: epoch ms. Returns the number of sent blocks. */
  async sendHour(
    group: number,
    device: DeviceBytes,
    bucket: number,
    source: Source,
    isWanted: (digest: Buffer) => boolean,
  ): Promise<number> {
    const { steps, streaming } = this.#sending;
    const of = { device, bucket, source, names: await this.#namesOf(group, device) };
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
        await this.#send(of, held);
        held = [];
        bytes = 0;
      }
    }
    await this.#send(of, held);
    return sent;
  }

  /** `onMeasured` is called if the device has a block in the hour. */
  async #completeHour(
    group: number,
    device: DeviceBytes,
    bucket: number,
    onMeasured: (device: DeviceBytes) => void,
  ) {
    const { steps, streaming } = this.#sending;
    const [stored, sent] = await Promise.all([
      steps.run(() => streaming.digests(device, bucket)),
      steps.run(() => streaming.notes(device, bucket)),
    ]);
    const missing = [...stored].filter((digest) => !sent.has(digest));
    if (missing.length > 0) await this.#sendMissing(group, device, bucket, missing);
    if (stored.size > 0) onMeasured(device);
  }

  async #sendMissing(group: number, device: DeviceBytes, bucket: number, missing: string[]) {
    const unread = new Set(missing);
    const count = await this.sendHour(group, device, bucket, 'completion', (digest) =>
      unread.delete(digest.toString('hex', 0, DIGEST_BYTES)),
    );
    this.#observer.onCompleted(count);
    if (unread.size > 0)
      throw new Incomplete(device, bucket, { unread: unread.size, missing: missing.length });
  }

  async #namesOf(group: number, device: DeviceBytes): Promise<Names> {
    const { steps, store } = this.#sending;
    const key = { group, bytes: device };
    const row = await steps.run(() => store.devices.device(key));
    const sensors = new Map(
      (await steps.run(() => store.devices.sensors(key))).map(({ id, name }) => [id, name]),
    );
    return { id: uuidText(device), name: row?.name ?? null, sensor: (id) => sensors.get(id) ?? null };
  }

  /** Also notes the digests as sent. */
  async #send(
    { device, bucket, names, source }: { device: DeviceBytes; bucket: number; names: Names; source: Source },
    blocks: StoredBlock[],
  ) {
    const { steps, streaming, records, mustSend } = this.#sending;
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
}

/** A read of an hour did not return all missing blocks. No watermark is sent then, and the next check compares the hour again. */
class Incomplete extends Error {
  constructor(device: DeviceBytes, bucket: number, { unread, missing }: { unread: number; missing: number }) {
    const hour = new Date(bucket).toISOString();
    super(
      `${unread} of ${missing} missing blocks of device ${uuidText(device)} were not read in the hour ${hour}`,
    );
    this.name = 'Incomplete';
  }
}
