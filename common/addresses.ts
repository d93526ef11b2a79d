/** @import { Config } from './settings/config.js' */

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** @param {string} host @returns {boolean} */
export const isLoopback = (host) => LOOPBACK.test(host);

/** @param {string} url URL of a broker @returns {boolean} whether the connection leaves this machine without TLS */
export const isOpenBroker = (url) => url.startsWith('mqtt:') && !isLoopback(new URL(url).hostname);

/** @param {string} point address as host[:port], IPv6 in brackets @returns {boolean} */
export const isLoopbackPoint = (point) => isLoopback(point.replace(/(?<=^\[.*\]|^[^:]*):\d+$/, ''));

/** @param {string} host host on which a server listens @returns {string} host to which a client on this machine connects */
export const reachable = (host) => {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
};

/**
 * @param {Pick<Config['mqtt'], 'host' | 'port' | 'tls'>} mqtt
 * @returns {string} URL of the embedded broker
 */
export const embeddedBrokerUrl = ({ host, port, tls }) =>
  `${tls ? 'mqtts' : 'mqtt'}://${reachable(host)}:${port}`;

/** @param {Pick<Config, 'http' | 'mqtt'>} config @returns {{ dashboard: string, broker: string }} URLs */
export const addresses = ({ http, mqtt }) => ({
  dashboard: `${http.tls ? 'https' : 'http'}://${reachable(http.host)}:${http.port}/`,
  broker: mqtt.url ?? embeddedBrokerUrl(mqtt),
});
