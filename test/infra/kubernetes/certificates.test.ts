import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { find, podOf } from '../../support/kubernetes/resources.ts';
import { environmentOf } from '../../support/kubernetes/workloads.ts';

// Checks the certificates that processes trust and present against the certificates that the overlays request.

const AUTHORITIES = '/etc/millrace/authorities';

const builds = useBuilds();

describe.each(BUILDS.filter((name) => name.startsWith('overlays/')))('Certificates of %s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  const certificates = () => resources().filter(({ kind }) => kind === 'Certificate');
  const namesIn = (secretName: string): string[] =>
    certificates().find(({ spec }) => spec.secretName === secretName)?.spec.dnsNames ?? [];
  const ingest = () => find(resources(), 'StatefulSet/millrace-ingest');

  test('Kubernetes certificates: pods: mount only certificates that the overlay requests; HTTPS uses the mounted certificate', () => {
    for (const resource of resources().filter(podOf)) {
      const secrets = podOf(resource)?.spec.volumes.flatMap(
        ({ secret }: { secret?: object }) => secret ?? [],
      );
      for (const { secretName } of secrets) expect(namesIn(secretName)).not.toHaveLength(0);
      if (podOf(resource)?.spec.containers[0].name !== 'millrace') continue;
      const { HTTP_TLS_CERT, HTTP_TLS_KEY } = environmentOf(resources(), resource);
      const shown = secrets.length > 0 ? ['/etc/millrace/tls/tls.crt', '/etc/millrace/tls/tls.key'] : [];
      expect([HTTP_TLS_CERT, HTTP_TLS_KEY].filter(Boolean)).toEqual(shown);
    }
  });

  test('Kubernetes certificates: MQTT: the broker certificate has the host name that ingest connects to', () => {
    const { MQTT_URL, MQTT_TLS_CA } = environmentOf(resources(), ingest());
    const { protocol, hostname } = new URL(String(MQTT_URL));
    if (!MQTT_TLS_CA) return;
    expect(protocol).toBe('mqtts:');
    expect(MQTT_TLS_CA).toBe(`${AUTHORITIES}/mqtt.pem`);
    const volumes = podOf(ingest())?.spec.volumes ?? [];
    const { sources } = volumes.find(({ name }: { name: string }) => name === 'authorities').projected;
    const { secret } = sources.find((source: Record<string, unknown>) => source.secret);
    expect(secret.items).toEqual([{ key: 'ca.crt', path: 'mqtt.pem' }]);
    expect(namesIn(secret.name)).toContain(hostname);
  });

  test('Kubernetes certificates: Prometheus scrapes over HTTPS: the certificate has the host name that Prometheus verifies', () => {
    for (const { spec } of resources().filter(({ kind }) => kind === 'ServiceMonitor')) {
      const [{ scheme = 'http', tlsConfig, path }] = spec.endpoints;
      expect(path).toBe('/metrics');
      expect([scheme, tlsConfig !== undefined]).toEqual(
        scheme === 'https' ? ['https', true] : ['http', false],
      );
      if (tlsConfig) expect(namesIn(tlsConfig.ca.secret.name)).toContain(tlsConfig.serverName);
      const { HTTP_TLS_CERT } = environmentOf(resources(), ingest());
      expect(scheme).toBe(HTTP_TLS_CERT ? 'https' : 'http');
    }
  });
});
