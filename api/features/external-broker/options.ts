import { readFileSync } from 'node:fs';
import type { Config } from '../../../common/settings/config.ts';

const RECONNECT_MS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;

export const brokerOptions = (mqtt: Config['mqtt'], keepAliveMs: number) => ({
  manualConnect: true,
  protocolVersion: 5 as const,
  username: mqtt.username,
  password: mqtt.password,
  ca: mqtt.tlsCa ? [readFileSync(mqtt.tlsCa)] : undefined,
  rejectUnauthorized: true,
  keepalive: keepAliveMs / 1000,
  reconnectPeriod: RECONNECT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  resubscribe: false,
});
