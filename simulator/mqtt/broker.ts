import { readFileSync } from 'node:fs';
import { embeddedBrokerUrl, isOpenBroker } from '../../common/addresses.ts';
import { readCredentialsFile } from '../../common/credentials-file.ts';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import type { Broker } from './connection.ts';

/**
 * The URL is `--broker`, or else `MQTT_URL`, or else that of the embedded broker.
 * @throws `bad_settings` when MQTT_TLS_CA cannot be read, or when the URL has no TLS although MQTT_TLS_CA or a password
 *   requires it; `usage` when the file of credentials cannot be read
 */
export function chooseBroker(
  { mqtt, tlsElsewhere }: Pick<Config, 'mqtt' | 'tlsElsewhere'>,
  flags: { broker?: string | undefined; credentials?: string | undefined },
): Broker {
  const url = flags.broker ?? mqtt.url ?? embeddedBrokerUrl(mqtt);
  const { username, password, tlsCa } = mqtt;
  if (tlsCa && !url.startsWith('mqtts:')) {
    // Without this check, a URL without TLS would silently be unencrypted.
    throw new MillraceError('bad_settings', `${shownUrl(url)} must be mqtts:// where MQTT_TLS_CA is set.`);
  }
  const hasSecret = password || flags.credentials !== undefined || new URL(url).password;
  if (hasSecret && isOpenBroker(url) && !tlsElsewhere) {
    throw new MillraceError(
      'bad_settings',
      `${shownUrl(url)} must be mqtts://: a password would be sent there for all to read. Set TLS_ELSEWHERE=true where the network between is private.`,
    );
  }
  return {
    url,
    username,
    password,
    ...(tlsCa ? { ca: readCa(tlsCa) } : {}),
    ...(flags.credentials === undefined ? {} : { secrets: readCredentialsFile(flags.credentials) }),
  };
}

/**
 * Without `--credentials`, all devices use the same account.
 * @throws `usage`: the file of credentials has no account of the device
 */
export function brokerFor({ secrets, ...broker }: Broker, device: string): Broker {
  if (!secrets) return broker;
  const password = secrets.get(device);
  if (password !== undefined) return { ...broker, username: device, password };
  throw new MillraceError('usage', `The file of --credentials has no account ${device}.`);
}

function readCa(path: string) {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new MillraceError('bad_settings', `MQTT_TLS_CA: ${path} cannot be read`, { cause: error });
  }
}

/** Without credentials, for messages and logs. */
export const shownUrl = (url: string): string => url.replace(/\/\/[^@]*@/, '//');
