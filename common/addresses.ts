import type { Config } from './settings/config.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** The connection leaves this machine without TLS. @param url of a broker */
export const isOpenBroker = (url: string): boolean =>
  url.startsWith('mqtt:') && !isLoopback(new URL(url).hostname);

/** @param point host[:port], IPv6 in brackets */
export const isLoopbackPoint = (point: string): boolean =>
  isLoopback(point.replace(/(?<=^\[.*\]|^[^:]*):\d+$/, ''));

/** A client on this machine connects to this host, if a server listens on `host`. */
export const reachable = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
};

export const embeddedBrokerUrl = ({
  host,
  port,
  tls,
}: Pick<Config['mqtt'], 'host' | 'port' | 'tls'>): string =>
  `${tls ? 'mqtts' : 'mqtt'}://${reachable(host)}:${port}`;

export const addresses = ({
  http,
  mqtt,
}: Pick<Config, 'http' | 'mqtt'>): { dashboard: string; broker: string } => ({
  dashboard: `${http.tls ? 'https' : 'http'}://${reachable(http.host)}:${http.port}/`,
  broker: mqtt.url ?? embeddedBrokerUrl(mqtt),
});
