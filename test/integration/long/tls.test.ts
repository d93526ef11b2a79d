import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { askApi } from '../../../common/api-client.ts';
import { certificatesFolder } from '../../support/certificates.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { readSeries } from '../../support/metrics.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const certificates = certificatesFolder();
const afterwards = useCleanUps();
let own: Awaited<ReturnType<typeof certificates.make>>;
let system: TestSystem;
let ports: { http: number; mqtt: number };

beforeAll(async () => {
  own = await certificates.make();
  system = await startTestSystem({
    settings: {
      HTTP_TLS_CERT: own.cert,
      HTTP_TLS_KEY: own.key,
      MQTT_TLS_CERT: own.cert,
      MQTT_TLS_KEY: own.key,
    },
    periods: { certificates: 50 },
  });
  ports = { http: Number(new URL(system.httpUrl).port), mqtt: system.mqttPort };
});
afterAll(async () => {
  await system?.stop();
  certificates.remove();
});

const ask = (path: string) =>
  askApi(`https://127.0.0.1:${ports.http}${path}`, { certificate: own.cert, withinMs: 10_000 });

const metric = async (series: string) => readSeries((await ask('/metrics')).text, series);

async function peerCert(port: number, options?: ConnectionOptions): Promise<X509Certificate | undefined> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: own.authority, ...options });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate();
  } finally {
    socket.destroy();
  }
}

test('TLS for HTTP and MQTT: versions 1.2 and 1.3: served, and clients verify the certificate; 1.1: refused', async () => {
  expect(await ask('/readyz')).toMatchObject({ status: 200 });
  for (const port of [ports.http, ports.mqtt]) {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      expect(await peerCert(port, { minVersion: version, maxVersion: version })).toBeDefined();
    }
    const old = peerCert(port, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' });
    await expect(old).rejects.toThrow(/protocol version/);
    await expect(peerCert(port, { ca: [] })).rejects.toMatchObject({ code: 'SELF_SIGNED_CERT_IN_CHAIN' });
  }
});

test('TLS for HTTP and MQTT: a client connects without TLS: it gets no answer', async () => {
  for (const port of [ports.http, ports.mqtt]) {
    const socket = connectTcp(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('error', () => {});
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'close');
    expect(answer).not.toMatch(/HTTP|ok/);
  }
});

async function sendToHttp(text: string): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: ports.http, ca: own.authority });
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

test('TLS for HTTP: refused requests: the answer advises https, and has Strict-Transport-Security', async () => {
  const otherHost = await sendToHttp('GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  expect(otherHost).toMatch(/^HTTP\/1\.1 421 [\s\S]*Use https:\/\/localhost or https:\/\/127\.0\.0\.1\./);
  const nonsense = await sendToHttp('nonsense\r\n\r\n');
  expect(nonsense).toMatch(/^HTTP\/1\.1 400 [\s\S]*"bad_request"/);
  for (const answer of [otherHost, nonsense])
    expect(answer).toMatch(/\r\nstrict-transport-security: max-age=\d+/i);
});

test('TLS for MQTT: measurement is published: stored when it is acknowledged', async () => {
  const client = await mqtt.connectAsync(`mqtts://127.0.0.1:${ports.mqtt}`, { ca: own.authority });
  afterwards(() => client.endAsync(true));
  const payload = JSON.stringify({ sensor_id: 'torque', ts: Date.now(), value: 4.2 });
  await client.publishAsync('iot/v1/press/measurements', payload, { qos: 1 });
  const { text } = await ask('/api/v1/latest?device=press');
  expect(JSON.parse(text).items).toMatchObject([{ name: 'torque', value: 4.2 }]);
});

test('Simulator with TLS: certificate of the broker: verified; of an unknown authority: reported', async () => {
  const args = ['--broker', `mqtts://127.0.0.1:${ports.mqtt}`, '--devices', '2', '--interval', '100ms'];
  const verified = startSimulator([...args, '--batch', '200ms', '--duration', '2s'], { MQTT_TLS_CA: own.ca });
  const { code, summary } = await verified.ended;
  expect(code).toBe(0);
  expect(summary?.acknowledged).toBeGreaterThan(0);

  const unverified = startSimulator(args, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  afterwards(() => unverified.kill());
  await until(() =>
    /not signed by an authority that is known here, and no file in MQTT_TLS_CA/.test(unverified.output()),
  );
});

test('TLS for HTTP and MQTT: certificate file changes: served without a restart, unless the certificate does not fit its key', async () => {
  const fingerprint = () => new X509Certificate(readFileSync(own.cert)).fingerprint256;
  const isServed = async (wanted: string) =>
    (await peerCert(ports.http))?.fingerprint256 === wanted &&
    (await peerCert(ports.mqtt))?.fingerprint256 === wanted;
  const before = fingerprint();
  expect(await isServed(before)).toBe(true);
  const expires = Date.parse(new X509Certificate(readFileSync(own.cert)).validTo) / 1000;
  expect(await metric('iot_tls_certificate_expires_seconds{purpose="http"}')).toBe(expires);

  await certificates.make('ours', { renew: true });
  const renewed = fingerprint();
  expect(renewed).not.toBe(before);
  await until(() => isServed(renewed), { what: 'the new certificate' });

  copyFileSync(own.key, `${own.key}.kept`);
  const other = await certificates.make('other');
  copyFileSync(other.key, own.key);
  const refused = 'iot_tls_certificate_refused{purpose="mqtt"}';
  await until(async () => (await metric(refused)) === 1, { what: 'the refusal' });
  expect(await isServed(renewed)).toBe(true);

  copyFileSync(`${own.key}.kept`, own.key);
  await until(async () => (await metric(refused)) === 0, { what: 'the end of the refusal' });
});

test('TLS for HTTP: a client never completes the handshake: the process stops nevertheless', async () => {
  const other = await startTestSystem({ settings: { HTTP_TLS_CERT: own.cert, HTTP_TLS_KEY: own.key } });
  const socket = connectTcp(Number(new URL(other.httpUrl).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await other.stop();
  await closed;
});
