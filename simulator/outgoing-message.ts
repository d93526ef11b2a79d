import { noteOf } from './ledger/format.ts';
import type { Ledger } from './ledger/ledger.ts';
import { measurementsTopic } from './mqtt/topics.ts';
import type { NewMessage } from './outbox.ts';
import { countSamples, type Series } from './payloads/index.ts';

export interface OutgoingMessage {
  payload: string | Buffer;
  /** samples that must be stored */
  series: Series[];
  /** scheduled, in ms of `performance.now()`; undefined: as soon as possible */
  dueAt?: number;
}

export const toMessage = (
  device: string,
  { payload, series, dueAt = undefined }: OutgoingMessage,
  ledger: Ledger | null,
): NewMessage => ({
  topic: measurementsTopic(device),
  payload,
  samples: countSamples(series),
  note: ledger ? noteOf(device, series) : null,
  dueAt: dueAt ?? null,
});
