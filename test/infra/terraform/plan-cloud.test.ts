import { describe, expect, test } from '@jest/globals';
import { applyWithStandIns } from '../../support/terraform/applied-module.ts';
import { CA, readCqlSettings } from '../../support/terraform/cql-settings.ts';

// Terraform itself evaluates the module for ScyllaDB Cloud, with stand-ins for the resources of the cloud.

const INSTALLS_MS = 300_000;

describe('Plan for ScyllaDB Cloud', () => {
  /** @param others further variables */
  const clusterWith = (certificate: string, others?: Record<string, unknown>) =>
    applyWithStandIns('scylladb-cloud', {
      variables: {
        name: 'millrace',
        region: 'us-east-1',
        node_type: 'i8g.xlarge',
        cidr_block: '172.31.0.0/16',
        allowed_cidr_blocks: ['203.0.113.0/24'],
        peerings: {
          application: {
            account_id: '1',
            vpc_id: 'vpc-1',
            region: 'us-east-1',
            cidr_blocks: ['10.0.0.0/16'],
          },
        },
        ...others,
      },
      answers: {
        scylladbcloud_cluster: {
          cluster_id: 7,
          datacenter: 'AWS_US_EAST_1',
          ca_certificate: certificate,
          node_dns_names: [],
        },
        scylladbcloud_vpc_peering: { connection_id: 'pcx-1' },
        'data.scylladbcloud_cql_auth': {
          seeds: 'one.example,two.example',
          username: 'scylla',
          password: 'secret',
        },
      },
    });

  test.each([
    ['without TLS', '', 9042, 'true'],
    ['with TLS', 'PEM', 9142, 'false'],
  ])(
    'Terraform plan for ScyllaDB Cloud, %s: outputs: the application reads its CQL settings from the outputs',
    async (_, certificate, port, elsewhere) => {
      const cloud = await clusterWith(certificate);
      try {
        const outputs = await cloud.outputs();
        expect(outputs).toMatchObject({
          settings: {
            CQL_CONTACT_POINTS: `one.example:${port},two.example:${port}`,
            CQL_LOCAL_DC: 'AWS_US_EAST_1',
            CQL_KEYSPACE: 'iot',
            CQL_USERNAME: 'scylla',
            TLS_ELSEWHERE: elsewhere,
          },
          secrets: { CQL_PASSWORD: 'secret' },
          files: { CQL_TLS_CA: certificate },
          peering_connection_ids: { application: 'pcx-1' },
          cidr_block: '172.31.0.0/16',
        });
        const { username } = readCqlSettings(outputs['settings'], certificate ? { CQL_TLS_CA: CA } : {});
        expect(username).toBe('scylla');
        const [rule] = (await cloud.made()).filter(
          ({ name }) => name === 'scylladbcloud_allowlist_rule__this',
        );
        expect(rule?.input).toMatchObject({ cluster_id: 7, cidr_block: '203.0.113.0/24' });
      } finally {
        cloud.remove();
      }
    },
    INSTALLS_MS,
  );

  test(
    'Terraform plan for ScyllaDB Cloud: the network overlaps with a network of the application: the plan fails',
    async () => {
      const cloud = await clusterWith('');
      try {
        for (const cidr of ['10.0.0.0/16', '10.0.128.0/20', '10.0.0.0/8'])
          expect(await cloud.refused(`cidr_block=${cidr}`)).toContain(`(${cidr}) overlaps`);
        expect(await cloud.planned('cidr_block=10.1.0.0/16')).toBeDefined();
      } finally {
        cloud.remove();
      }
    },
    INSTALLS_MS,
  );

  test(
    'Terraform plan for ScyllaDB Cloud: public addresses without TLS: the application refuses to send the password',
    async () => {
      const cloud = await clusterWith('', { private: false, peerings: {} });
      try {
        const { settings } = await cloud.outputs();
        expect(() => readCqlSettings(settings)).toThrow('CQL_TLS_CA must be set');
      } finally {
        cloud.remove();
      }
    },
    INSTALLS_MS,
  );
});
