import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { find } from '../../support/kubernetes/resources.ts';

interface Rack {
  name: string;
  members: number;
  placement: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: Term[] } };
  };
}
interface Term {
  matchExpressions: { key: string; values: string[] }[];
}

// Only a server with the operators can check the resources of operators against their schemas (.github/workflows/network.yml).

const builds = useBuilds();

const scylla = () => builds.built.get('scylla') ?? [];
const cluster = () => find(scylla(), 'ScyllaCluster/millrace');
const racks = () => cluster().spec.datacenter.racks;

test('ServiceMonitor of Scylla Manager: job label: equals the job name that the backup alert queries', () => {
  const { jobLabel, selector } = find(scylla(), 'ServiceMonitor/scylla-manager').spec;
  const alerts = readFileSync('infra/monitoring/prometheus/rules/alerts.yml', 'utf8');
  expect(alerts).toContain(`up{job="${selector.matchLabels[jobLabel]}"}`);
});

describe('ScyllaCluster', () => {
  test('ScyllaCluster: racks: one rack for each replica, each rack in a different zone', () => {
    const zones = racks().map(({ placement }: Rack) => {
      const [term] = placement.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
      return term?.matchExpressions.find(({ key }) => key === 'topology.kubernetes.io/zone')?.values;
    });
    expect(zones).toEqual(racks().map(({ name }: Rack) => [name]));
    expect(new Set(zones.flat()).size).toBe(3);
    expect(racks().map(({ members }: Rack) => members)).toEqual([1, 1, 1]);
  });

  test('ScyllaCluster: CPU and memory: requests equal limits, in whole CPUs, because Kubernetes pins only whole CPUs', () => {
    for (const { resources, agentResources } of racks()) {
      expect(resources.requests).toEqual(resources.limits);
      expect(agentResources.requests).toEqual(agentResources.limits);
      expect(Number.isInteger(resources.requests.cpu)).toBe(true);
    }
  });

  test('ScyllaCluster: placement: the pods run on the nodes that the NodeConfig prepares', () => {
    const { nodeSelector, tolerations } = find(scylla(), 'NodeConfig/millrace').spec.placement;
    const wanted = Object.entries(nodeSelector).map(([key, value]) => ({
      key,
      operator: 'In',
      values: [value],
    }));
    for (const { placement } of racks()) {
      const [term] = placement.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
      expect(term.matchExpressions).toEqual(expect.arrayContaining(wanted));
      expect(placement.tolerations).toEqual(tolerations);
    }
  });

  test('ScyllaCluster: connections from the overlays: the contact point is the cluster, and the network policies allow its port', () => {
    const { name, namespace } = cluster().metadata;
    for (const build of BUILDS.filter((name) => /overlays\/(scylladb|tls)$/.test(name))) {
      const { data } = find(builds.built.get(build) ?? [], 'ConfigMap/millrace-settings');
      const [host, port = '9042'] = data.CQL_CONTACT_POINTS.split(':');
      expect(host).toBe(`${name}-client.${namespace}.svc`);
      expect(data.CQL_LOCAL_DC).toBe(cluster().spec.datacenter.name);
      const { spec } = find(builds.built.get(build) ?? [], 'NetworkPolicy/to-database');
      expect(spec.egress[0].ports).toEqual([{ protocol: 'TCP', port: Number(port) }]);
      const admitted = find(scylla(), 'NetworkPolicy/clients').spec.ingress;
      expect(admitted.flatMap(({ ports = [] }: { ports?: object[] }) => ports)).toContainEqual(
        spec.egress[0].ports[0],
      );
      const [to] = spec.egress[0].to;
      expect(to.namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': namespace });
      expect(to.podSelector).toEqual(find(scylla(), 'NetworkPolicy/clients').spec.podSelector);
      expect(to.podSelector.matchLabels).toMatchObject({ 'scylla/cluster': name });
    }
  });

  test('ScyllaCluster: scylla.yaml: has a superuser with a password hash; the Scylla Manager agent has a separate Secret', () => {
    for (const { scyllaConfig, scyllaAgentConfig } of racks()) {
      const { data, metadata } = find(builds.secrets, `ConfigMap/${scyllaConfig}`);
      expect(metadata.namespace).toBe(cluster().metadata.namespace);
      expect(data['scylla.yaml']).toMatch(/^authenticator: PasswordAuthenticator$/m);
      expect(data['scylla.yaml']).toMatch(/^auth_superuser_name: millrace$/m);
      expect(data['scylla.yaml']).toMatch(/^auth_superuser_salted_password: '\$6\$[^']+'$/m);
      expect(Object.keys(find(scylla(), `Secret/${scyllaAgentConfig}`).data)).toEqual([
        'scylla-manager-agent.yaml',
      ]);
    }
    // The operator has its own disruption budget. A second one would block every eviction of its pods.
    expect(scylla().map(({ kind }) => kind)).not.toContain('PodDisruptionBudget');
  });
});
