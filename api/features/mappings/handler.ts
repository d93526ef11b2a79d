import { MillraceError } from '../../../common/errors.ts';
import { brokenNameRule, type Identity, identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { refusalOf } from '../../ingest/decode/index.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import type { Handler } from '../../ingest/handlers/index.ts';
import { arrivalOf, refuseForbidden, resultOf, toKept } from '../../ingest/index.ts';
import type { Arrival, Message, Outcome } from '../../ingest/pipeline.ts';
import type { Birth } from '../../ingest/registry/birth-message.ts';
import type { Device, Sensor } from '../../ingest/registry/cache.ts';
import { readSession, sensorOf } from '../../ingest/registry/index.ts';
import type { HandlerDeps } from '../../ingest/topics.ts';
import type { Context } from '../../observability/index.ts';
import type { Description, ParsedMessage } from './mapping.ts';
import type { MappedTopic } from './mappings.ts';

/**
 * A message with values is handled like measurements, and one with descriptions like a birth. `replay` stores all
 * values: the mappings may have changed since the first attempt, so the indexes of refused values do not apply.
 */
export function createMappedHandler(
  { metrics: { declare } }: Pick<Context, 'metrics'>,
  { devices, decoder, measurements, awaitingRegistration, deadLetters, queue }: HandlerDeps,
): Handler<MappedTopic, null> {
  const { registry, births, noteLastSeen } = devices;
  const mapped = declare.counter(
    'iot_ingest_mapped_messages_total',
    'Messages on mapped topics, by mapping of MQTT_MAPPINGS and by result: read, skipped',
    'mapping',
    'result',
  );

  async function describe(identity: Identity, topic: MappedTopic, opened: ParsedMessage, arrival: Arrival) {
    const birth = readDescription(identity, topic, opened, arrival.receivedAt);
    return birth ? births.register(identity, birth, arrival) : [];
  }

  /** Writes only what is new. */
  async function writeDescriptions(
    identity: Identity,
    batch: MessageBatch,
    described: Map<string, Description>,
    receivedAt: number,
  ) {
    const device = described.size > 0 ? registry.cache.peek(identity.id) : undefined;
    if (!device) return;
    const news = newsIn(device, batch, described);
    for (const isCurrent of [true, false]) {
      const part = news.filter((entry) => entry.isCurrent === isCurrent);
      if (part.length > 0) await registry.describeSensors(device, part, isCurrent ? receivedAt : null);
    }
  }

  async function handleOpened(
    message: Message,
    identity: Identity,
    topic: MappedTopic,
    opened: ParsedMessage,
  ): Promise<Outcome> {
    const arrival = arrivalOf(message);
    if (topic.mapping.isDescription) {
      await deadLetters.put(message, opened.device, await describe(identity, topic, opened, arrival));
      await noteLastSeen(message, identity);
      return 'accepted';
    }
    const batch = decoder.emptyBatch(arrival.receivedAt);
    const described = readInto(batch, topic, opened);
    const isKnown = await measurements.store(identity, batch, arrival, message.receipt);
    const kept = { ...toKept(message), route: topic };
    if (isKnown) await writeDescriptions(identity, batch, described, arrival.receivedAt);
    else awaitingRegistration.remember(identity.id, kept);
    if (batch.refused.length > 0) await deadLetters.put(kept, opened.device, batch.refused);
    measurements.noteSettled(batch, arrival.began);
    return batch.outcome;
  }

  return {
    findsDevice: true,

    async handle(message, topic) {
      const { mapping, levels } = topic;
      const opened = mapping.open(levels, message.payload, message.contentType);
      mapped.inc({ mapping: mapping.name, result: opened ? 'read' : 'skipped' });
      if (!opened) return 'accepted';
      const identity = identifyOpened(opened);
      if (refuseForbidden(message, opened.device)) return 'forbidden';
      return queue.run(identity.id, mapping.isDescription, () =>
        handleOpened(message, identity, topic, opened),
      );
    },

    async replay({ payload, contentType, receivedAt, now }, topic) {
      const opened = topic.mapping.open(topic.levels, payload, contentType);
      if (!opened) return { accepted: 0, refused: [] };
      const identity = identifyOpened(opened);
      return queue.run(identity.id, topic.mapping.isDescription, async () => {
        if (topic.mapping.isDescription) {
          return {
            accepted: 1,
            refused: await describe(identity, topic, opened, { receivedAt, as: 'replayed' }),
          };
        }
        const batch = decoder.emptyBatch(receivedAt, now);
        const described = readInto(batch, topic, opened);
        await measurements.storeAgain(identity, batch, { receivedAt, isRefused: null });
        await writeDescriptions(identity, batch, described, receivedAt);
        return resultOf(batch);
      });
    },
  };
}

function identifyOpened({ device }: ParsedMessage): Identity {
  const identity = identifyDevice(device);
  if (identity) return identity;
  throw new MillraceError('bad_id', `the device that the mapping finds ${brokenNameRule(device)}`);
}

/** Returns null if the message describes no sensor. */
function readDescription(
  identity: Identity,
  { mapping }: MappedTopic,
  opened: ParsedMessage,
  receivedAt: number,
): Birth | null {
  const description = mapping.describe(opened);
  if (!description) return null;
  const { sensor: name, unit, type } = description;
  const sensor = identifySensor(identity.id, name);
  if (!sensor) throw new MillraceError('bad_id', `the sensor ${brokenNameRule(name)}`);
  const sensors = [{ index: 0, identity: sensor, name: sensor.name ?? undefined, unit, type }];
  const session = readSession(undefined, receivedAt);
  return { session, name: identity.name ?? undefined, sensors, refused: [] };
}

function readInto(
  batch: MessageBatch,
  { mapping }: MappedTopic,
  opened: ParsedMessage,
): Map<string, Description> {
  try {
    return mapping.read(opened, batch);
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    batch.clear();
    batch.refused.push(refusalOf(error.code, error));
    return new Map();
  }
}

const newsIn = (device: Device, batch: MessageBatch, described: Map<string, Description>) =>
  [...described].flatMap(([ref, description]) => {
    const sensor = batch.sensors.has(ref) ? sensorOf(device, ref) : undefined;
    const changes = sensor && newsOf(sensor, description);
    return sensor && changes ? [{ sensor, ...changes, isCurrent: description.isCurrent }] : [];
  });

/** Returns null if nothing is new. */
function newsOf(
  sensor: Sensor,
  { unit, type, isCurrent }: Description,
): { unit?: string; type?: string } | null {
  const isNews = (known: string | null, given: string | undefined) =>
    given !== undefined && (known === null || (isCurrent && known !== given));
  const changes = {
    ...(isNews(sensor.unit, unit) ? { unit } : {}),
    ...(isNews(sensor.type, type) ? { type } : {}),
  };
  return Object.keys(changes).length > 0 ? changes : null;
}
