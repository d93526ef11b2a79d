import type { Mqtt } from '../../api/types.ts';

export const NEXT_LINE = ' \\\n  ';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** @returns the text quoted as one word of a POSIX shell */
export const quote = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export const EXAMPLE = { device: 'my-desk', measurement: { sensor_id: 'temperature', value: 21.5 } };

export const PAYLOAD = JSON.stringify(EXAMPLE.measurement);

/**
 * Returns the command that sends a measurement over MQTT.
 *
 * @param options `hostname`: host name of the API; `device` and `account`: default to examples
 */
export function publishCommand(
  mqtt: Mqtt,
  options: { hostname: string; device?: string; account?: string; secret?: string },
): string {
  const { hostname, device = EXAMPLE.device, account = 'ACCOUNT', secret = 'SECRET' } = options;
  // A URL has brackets around an IPv6 address. mosquitto_pub does not accept brackets, so they are removed.
  const host = mqtt.host ?? hostname.replace(/^\[(.*)\]$/, '$1');
  return [
    `mosquitto_pub -h ${quote(host)} -p ${mqtt.port}${mqtt.tls ? ' --cafile ca.pem' : ''}`,
    ...(mqtt.credentials ? [`-u ${quote(account)} -P ${quote(secret)}`] : []),
    `-q 1 -t ${quote(`iot/v1/${device}/measurements`)}`,
    `-m ${quote(PAYLOAD)}`,
  ].join(NEXT_LINE);
}
