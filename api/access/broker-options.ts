import { readFileSync } from 'node:fs';

/** @import { Config } from '../../common/settings/config.js' */

const RECONNECT_MS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Returns the options of every connection to the external broker of MQTT_URL.
 *
 * @param {Config['mqtt']} mqtt
 * @param {number} keepAliveMs whole seconds, in ms
 */
export const brokerOptions = (mqtt, keepAliveMs) => ({
  manualConnect: true,
  protocolVersion: /** @type {const} */ (5),
  username: mqtt.username,
  password: mqtt.password,
  ca: mqtt.tlsCa ? [readFileSync(mqtt.tlsCa)] : undefined,
  rejectUnauthorized: true,
  keepalive: keepAliveMs / 1000,
  reconnectPeriod: RECONNECT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  resubscribe: false,
});
