import { ENTRY_TTL_MS, MAX_ENTRIES } from '../../api/ingest/registry/cache.js';
import { LAST_SEEN_EVERY_MS } from '../../api/store/latest/writes.js';
import { HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW, messageWeight, partsFor } from '../../schema/rules.js';
import { ratesOf } from '../../schema/sizes.js';
import { encodeSenml } from '../../simulator/payloads/senml.js';

/** @import { Fleet as SizesFleet } from '../../schema/sizes.js' */

/** A fleet, and how often each of its devices reconnects. @typedef {SizesFleet & { bornEveryMs: number }} Fleet */

/** @param {Fleet} fleet @returns {number} samples of a sensor in a message */
export const samplesPerMessage = ({ intervalMs, batchMs }) =>
  Math.max(1, Math.round(Math.max(intervalMs, batchMs) / intervalMs));

/**
 * Hours that a message touches on average: a message begins anywhere in its hour, so it touches one hour more for each hour that
 * it is long.
 *
 * @param {Fleet} fleet
 * @returns {number}
 */
export const hoursTouched = (fleet) => 1 + ((samplesPerMessage(fleet) - 1) * fleet.intervalMs) / HOUR_MS;

/** Requests and rows a second of one table. @typedef {{ requests: number, rows: number }} Writes */

/**
 * The writes of ingest in a second. Rows of the indexes are left out: ingest writes them when a device sends new attributes.
 *
 * @param {Fleet} fleet
 * @returns {Record<'samples' | 'latest' | 'lastSeen' | 'events' | 'history' | 'statistics', Writes>}
 */
export function writesOf(fleet) {
  const { messages, packedHours } = ratesOf(fleet);
  const { sensorsPerDevice, intervalMs } = fleet;
  const devices = fleet.sensors / sensorsPerDevice;
  const hours = hoursTouched(fleet);
  const parts = partsFor(sensorsPerDevice);
  const message = messageWeight({
    sensors: sensorsPerDevice / parts,
    samples: Math.min(samplesPerMessage(fleet), Math.max(1, HOUR_MS / intervalMs)),
  });
  const seen = Math.min(messages, devices / (LAST_SEEN_EVERY_MS / 1000));
  // Births, `online` and `offline` are an event each.
  const events = 3 * birthsOf(fleet);
  const historyRows = Math.ceil(HOUR_MS / intervalMs / MAX_SAMPLES_PER_HISTORY_ROW);
  return {
    samples: {
      requests: messages * hours * parts,
      rows: messages * parts * (hours + (message.rows - 1) * Math.max(1, hours - 1)),
    },
    // Under load messages share requests.
    latest: { requests: messages, rows: messages },
    lastSeen: { requests: seen, rows: seen },
    events: { requests: events, rows: events },
    history: { requests: packedHours, rows: packedHours * Math.max(1, historyRows) },
    statistics: { requests: packedHours, rows: packedHours },
  };
}

/** @param {Fleet} fleet @returns {number} devices that connect, in a second */
export const birthsOf = ({ sensors, sensorsPerDevice, bornEveryMs }) =>
  sensors / sensorsPerDevice / (bornEveryMs / 1000);

/**
 * Devices that a process has to read from the registry, in a second, all processes together. The broker gives a shared
 * subscription's messages to any of them. So with more processes, one of them receives a message of the same device less often
 * before it has forgotten the device.
 *
 * @param {Fleet} fleet
 * @param {number} processes
 * @returns {number}
 */
export function registryReadsOf(fleet, processes) {
  const { messages } = ratesOf(fleet);
  const devices = fleet.sensors / fleet.sensorsPerDevice;
  const seenInTime = (messages / devices / processes) * (ENTRY_TTL_MS / 1000);
  const kept = Math.min(1, MAX_ENTRIES / (devices * (1 + fleet.sensorsPerDevice)));
  return messages * (1 - kept * (seenInTime / (1 + seenInTime)));
}

/** @param {Fleet} fleet @returns {number} bytes of one message as the simulator encodes it, SenML */
export function payloadBytes(fleet) {
  const samples = Array.from({ length: samplesPerMessage(fleet) }, (_, at) => ({
    ts: 1_795_000_000_123 + at * fleet.intervalMs,
    value: 21.75,
  }));
  const names = Array.from(
    { length: fleet.sensorsPerDevice },
    (_, at) => `sensor-${String(at).padStart(2, '0')}`,
  );
  return Buffer.byteLength(encodeSenml(names.map((name) => ({ name, samples }))));
}
