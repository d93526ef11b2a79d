import { MillraceError } from '../../../common/errors.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { Context } from '../../observability/index.ts';
import type { Corrections } from '../corrections.ts';
import type { MessageDecoder } from '../decode/index.ts';
import type { MessageBatch } from '../decode/message-batch.ts';
import { wholeRefusal } from '../decode/refusals.ts';
import type { Message } from '../pipeline.ts';
import type { Kept } from './index.ts';

/** Messages with the user property `replace` of MQTT 5. The values of permitted devices replace what is stored for their times. */
export class ReplacingMessages {
  /** set when all parts of the process are created */
  corrections: Corrections | null = null;
  #permitted;
  #decoder;
  #logger;

  constructor({ config, logger }: Pick<Context, 'config' | 'logger'>, decoder: MessageDecoder) {
    this.#permitted = new Set(config.ingest.replaceDevices.map((name) => identifyDevice(name)?.id));
    this.#decoder = decoder;
    this.#logger = logger;
  }

  /** @returns null: the device is not permitted @throws `malformed`, `unknown_device`, `busy`, and the errors of the decoder */
  async store(message: Message, name: string, identity: Identity): Promise<MessageBatch | null> {
    if (!this.#permitted.has(identity.id)) {
      message.onRefused?.([wholeRefusal('forbidden', 'MQTT_REPLACE_DEVICES must list the device.')]);
      return null;
    }
    if (message.replaces === 'unclear')
      throw new MillraceError(
        'malformed',
        'The user property replace must be true or false, and occur once. A replay replaces.',
      );
    const { payload, contentType, receivedAt } = message;
    const batch = this.#decoder.decode(payload, contentType, receivedAt);
    await this.#replace(identity, batch, receivedAt);
    if (batch.counts.samples > 0)
      this.#logger.info({ audit: true, target: name, by: 'mqtt' }, 'samples were replaced');
    return batch;
  }

  /** Keeps the revision of the first receipt, so later corrections stay. */
  async storeAgain(
    { payload, contentType, receivedAt, now, isRefused }: Kept,
    identity: Identity,
  ): Promise<MessageBatch> {
    const batch = this.#decoder.decode(payload, contentType, receivedAt, now);
    if (isRefused) batch.keepOnly(isRefused);
    await this.#replace(identity, batch, receivedAt);
    return batch;
  }

  async #replace(identity: Identity, batch: MessageBatch, acceptedAt: number) {
    if (!this.corrections) throw new MillraceError('unavailable');
    await this.corrections.replaceBatch(identity, batch, { by: 'mqtt', reason: null, acceptedAt });
  }
}
