import { noteOf } from '../../../simulator/ledger/format.ts';
import { Ledger } from '../../../simulator/ledger/ledger.ts';
import type { Series } from '../../../simulator/payloads/index.ts';
import type { PacketWatch, ProxyConnection } from '../../support/mqtt/mqtt-proxy.ts';

/**
 * Records in a ledger what a broker delivers to ingest, and what ingest acknowledges to the broker. Every acknowledged
 * message of this ledger is a promise of Millrace. It does not depend on the broker's promises to its publishers.
 */
export function createDeliveryRecord(path: string): { watch: PacketWatch; close: () => void } {
  const ledger = new Ledger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  /** ledger numbers of unacknowledged messages, by packet id */
  const unacknowledged: WeakMap<ProxyConnection, Map<number, number>> = new WeakMap();

  function unacknowledgedOn(connection: ProxyConnection) {
    const numbers = unacknowledged.get(connection) ?? new Map();
    unacknowledged.set(connection, numbers);
    return numbers;
  }

  return {
    watch: {
      delivered(connection, id, { topic, payload }) {
        const [, , device, kind] = topic.split('/');
        if (kind === 'measurements')
          unacknowledgedOn(connection).set(id, ledger.sent(noteOf(String(device), seriesOf(payload))));
      },
      acknowledged(connection, id) {
        const number = unacknowledgedOn(connection).get(id);
        if (number !== undefined) ledger.acknowledged(number);
        unacknowledgedOn(connection).delete(id);
      },
    },
    close: () => ledger.close(),
  };
}

function seriesOf(payload: string | Buffer): Series[] {
  const records: Array<{ sensor_id: string; ts: number; value: number }> = JSON.parse(payload.toString());
  const names = new Set(records.map(({ sensor_id }) => sensor_id));
  return [...names].map((name) => ({
    name,
    samples: records.filter(({ sensor_id }) => sensor_id === name),
  }));
}
