import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { find, podOf } from '../../support/kubernetes/resources.ts';
import { environmentOf, ourWorkloads } from '../../support/kubernetes/workloads.ts';

// Checks the certificates that processes trust and present against the certificates that the overlays request.

const AUTHORITIES = '/etc/millrace/authorities';

const builds = useBuilds();

describe.each(BUILDS.filter((name) => name.startsWith('overlays/')))('Certificates of %s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  const certificates = () => resources().filter(({ kind }) => kind === 'Certificate');
  /** @returns the names of its certificate */
  const namesIn = (secretName: string): string[] =>
    certificates().find(({ spec }) => spec.secretName === secretName)?.spec.dnsNames ?? [];
  const ingest = () => find(resources(), 'StatefulSet/millrace-ingest');

  test('Kubernetes certificates: signing authority: each certificate has an authority of the same overlay', () => {
    for (const { spec } of certificates()) {
      const { spec: issuer } = find(resources(), `Issuer/${spec.issuerRef.name}`);
      if (!issuer.ca) expect(spec.isCA).toBe(true);
      else expect(certificates().map(({ spec }) => spec.secretName)).toContain(issuer.ca.secretName);
    }
  });

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

  test('Kubernetes certificates: setting TLS_ELSEWHERE: true only in overlays that connect without TLS', () => {
    const { TLS_ELSEWHERE = 'false' } = find(resources(), 'ConfigMap/millrace-settings').data;
    expect(TLS_ELSEWHERE).toBe(/managed|tls/.test(build) ? 'false' : 'true');
  });
});

test('Kubernetes overlays/tls: certificates for CQL: the Secret millrace-cql-tls has every file that the settings name', () => {
  const shown = ourWorkloads(builds)
    .map((entry) => ({ ...entry, settings: environmentOf(entry.applied, entry.workload) }))
    .filter(({ settings }) => settings['CQL_TLS_CERT']);
  expect([...new Set(shown.map(({ where }) => where.split(' ')[0]))]).toEqual(['overlays/tls']);
  expect(shown).toHaveLength(5);
  for (const { workload, settings } of shown) {
    const { volumes, containers } = podOf(workload)?.spec ?? {};
    const { mountPath } = containers[0].volumeMounts.find(
      ({ name }: { name: string }) => name === 'authorities',
    );
    const { sources } = volumes.find(({ name }: { name: string }) => name === 'authorities').projected;
    const { secret } = sources.find(
      (entry: { secret?: { name: string } }) => entry.secret?.name === 'millrace-cql-tls',
    );
    const mounted = secret.items.map(({ key, path }: { key: string; path: string }) => [
      key,
      `${mountPath}/${path}`,
    ]);
    expect(mounted).toEqual([
      ['ca.crt', settings['CQL_TLS_CA']],
      ['tls.crt', settings['CQL_TLS_CERT']],
      ['tls.key', settings['CQL_TLS_KEY']],
    ]);
    // Without TLS there is no such Secret, and the pod must start all the same.
    expect(secret.optional).toBe(true);
  }
});
