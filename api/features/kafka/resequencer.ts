import type { Device } from '../../ingest/registry/cache.ts';
import type { BlockObserver } from '../../store/measurements/writes.ts';
import type { Query } from '../../store/sending/session.ts';

/** `rows` is null until the block is committed or has failed. */
type Place = { device: Device; bucket: number; rows: Query[] | null };

/**
 * Releases the blocks of each device in the order in which its messages arrived. Commits can overtake each other, because
 * several blocks of a device are being written. No acknowledgement waits for this order, only Kafka does. The class has the name
 * of the pattern in Enterprise Integration Patterns (2003).
 *
 *     arrived    [10:00:01] [10:00:02] [10:00:03]
 *     committed              ✓          ✓            held
 *     committed   ✓          ✓          ✓            all three are released
 */
export class Resequencer implements BlockObserver<Place> {
  #accepts;
  #release;
  /** In order of arrival, by device id, because the cache may replace the device object meanwhile. */
  #expected: Map<string, Place[]> = new Map();

  constructor({
    accepts,
    release,
  }: {
    /** reserves memory for the rows; false: no memory is left, so the rows are dropped here */
    accepts: (rows: Query[]) => boolean;
    release: (device: Device, bucket: number, rows: Query[]) => void;
  }) {
    this.#accepts = accepts;
    this.#release = release;
  }

  expect = (device: Device): Place => {
    const place: Place = { device, bucket: 0, rows: null };
    const places = this.#expected.get(device.id);
    if (places) places.push(place);
    else this.#expected.set(device.id, [place]);
    return place;
  };

  /** Releases all blocks whose earlier blocks are settled. `bucket`: epoch ms. */
  settle = (place: Place, bucket: number, rows: Query[]) => {
    const { id } = place.device;
    place.bucket = bucket;
    place.rows = rows.length > 0 && this.#accepts(rows) ? rows : [];
    const places = this.#expected.get(id) as Place[];
    for (let first = places[0]; first?.rows; first = places[0]) {
      places.shift();
      if (first.rows.length > 0) this.#release(first.device, first.bucket, first.rows);
    }
    if (places.length === 0) this.#expected.delete(id);
  };

  /** Devices with a block that is not yet released. */
  get devices() {
    return this.#expected.size;
  }
}
