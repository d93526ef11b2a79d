import { brokenNameRule, type Identity, identifySensor, isName } from '../../../schema/ids.ts';
import type { MessageDecoder } from '../../ingest/decode/index.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import type { Birth } from '../../ingest/registry/birth-message.ts';
import { readSession } from '../../ingest/registry/index.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { type DefinitionBook, type Definitions, definitionsOf } from './definition-book.ts';
import { bdSeqOf, isNumeric, isOfProtocol, nameOf, PATHS, readMetrics } from './metrics.ts';
import { type EdgeMessage, type EdgeResult, NO_EFFECT, type NodeDevices } from './nodes.ts';
import type { Payload } from './payload.ts';
import type { SparkplugStore } from './store.ts';

/** The metric definitions of a birth are committed before any other effect of the birth. */
export function createSparkplugBirths({
  store,
  decoder,
  retry,
  book,
  devices,
}: {
  store: SparkplugStore;
  decoder: MessageDecoder;
  retry: Retry;
  book: DefinitionBook;
  devices: NodeDevices;
}) {
  function result({ message, payload, identity }: EdgeMessage, definitions: Definitions): EdgeResult {
    const batch = decoder.emptyBatch(message.receivedAt);
    readMetrics(payload, definitions, batch);
    return { ...NO_EFFECT, birth: readBirthCertificate(payload, identity, message.receivedAt), batch };
  }

  async function commitBirth(edgeMessage: EdgeMessage): Promise<EdgeResult> {
    const { message, identity, node, payload } = edgeMessage;
    const { changes } = node;
    const definitions = await book.write(identity, definitionsOf(payload.metrics, message.receivedAt));
    // If `changes` differs, another birth or death arrived during the write, or the connection to the broker broke and a later birth may
    // be missing.
    if (node.changes === changes) node.present.add(identity.id);
    else node.needsRebirth = true;
    return result(edgeMessage, definitions);
  }

  /** A birth that was delivered again is not the newest. The valid aliases are unknown then, so a rebirth is needed. */
  function contradictory(edgeMessage: EdgeMessage, ids: string[]): EdgeResult {
    for (const id of ids) edgeMessage.node.forgetBirth(id);
    edgeMessage.node.needsRebirth = true;
    const definitions = definitionsOf(edgeMessage.payload.metrics, edgeMessage.message.receivedAt);
    return { ...result(edgeMessage, definitions), isContradictory: true };
  }

  return {
    async node(edgeMessage: EdgeMessage): Promise<EdgeResult> {
      const { message, identity, node, payload } = edgeMessage;
      const bdSeq = bdSeqOf(payload.metrics);
      const isNew = !node.born || bdSeq !== node.bdSeq;
      if (message.dup && node.born && isNew) return contradictory(edgeMessage, [...node.present]);
      // The births of the node's devices follow. Until then the aliases of the devices are not valid.
      node.forgetBirths();
      const born = await commitBirth(edgeMessage);
      // After a new connection of the node, its devices are offline until their births arrive.
      const ended = isNew ? await devices.all(edgeMessage) : [];
      if (isNew) await retry.run(() => store.writeNode(identity.bytes, bdSeq));
      node.sequence.begin(payload.seq);
      Object.assign(node, { born: true, bdSeq, needsRebirth: !node.present.has(identity.id) });
      return { ...born, isNewSession: isNew, ended };
    },

    async device(edgeMessage: EdgeMessage): Promise<EdgeResult> {
      const { message, identity, node, payload } = edgeMessage;
      const isPresent = node.present.has(identity.id);
      node.forgetBirth(identity.id);
      const known = await book.newest(identity);
      if (message.dup && isPresent) {
        const { text } = definitionsOf(payload.metrics, message.receivedAt);
        if (known?.text !== text) return contradictory(edgeMessage, [identity.id]);
      }
      if (!known) await devices.add(edgeMessage);
      return commitBirth(edgeMessage);
    },

    readAgain(
      { payload, identity, receivedAt }: { payload: Payload; identity: Identity; receivedAt: number },
      batch: MessageBatch,
    ): Birth {
      readMetrics(payload, definitionsOf(payload.metrics, receivedAt), batch);
      return readBirthCertificate(payload, identity, receivedAt);
    },
  };
}

/** Its sensors are the numeric metrics. The timestamp of the payload identifies the session. */
export function readBirthCertificate(
  { metrics, timestamp }: Payload,
  device: Identity,
  receivedAt: number,
): Birth {
  const birth: Birth = {
    session: readSession(timestamp, receivedAt),
    name: device.name ?? undefined,
    sensors: [],
    pathOf: PATHS,
    refused: [],
  };
  const seen = new Set();
  for (const [index, { name, datatype, implied, unit }] of metrics.entries()) {
    const type = datatype || implied;
    if (name === null || isOfProtocol(name) || !isNumeric(type) || seen.has(name)) continue;
    seen.add(name);
    const identity = identifySensor(device.id, name);
    // An invalid name is refused together with the value of the metric, which every birth contains.
    if (!identity) continue;
    if (unit && !isName(unit)) {
      const path = PATHS(index, 'properties.engUnit');
      birth.refused.push({ index, code: 'bad_id', path, rule: brokenNameRule(unit) });
    }
    birth.sensors.push({
      index,
      identity,
      name: identity.name ?? undefined,
      type: nameOf(type),
      unit: isName(unit) ? unit : undefined,
    });
  }
  return birth;
}
