import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useStarted } from '../../support/clean-ups.ts';
import { offlineTerraform } from '../../support/terraform/offline.ts';

// Terraform itself evaluates the variables with their validations, and the local values. A copy of a module without its resources
// needs no provider.

const EC2 = 'infra/terraform/modules/aws-ec2';
const CLOUD = 'infra/terraform/modules/scylladb-cloud';

const EC2_VARIABLES = {
  name: 'millrace',
  zones: ['us-east-1a', 'us-east-1b', 'us-east-1c'],
  ami: 'ami-0123456789abcdef0',
  monitoring_ami: 'ami-0123456789abcdef0',
  superuser_salted_password: 'a hash',
  backup_bucket: 'millrace-backups',
};
const CLOUD_VARIABLES = {
  name: 'millrace',
  region: 'us-east-1',
  node_type: 'i8g.xlarge',
  cidr_block: '172.31.0.0/16',
};
const PEERING = { account_id: '1', vpc_id: 'vpc-1', region: 'us-east-1', cidr_blocks: ['10.0.0.0/16'] };

const terraform = useStarted(offlineTerraform, ({ remove }) => remove());
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-module-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Plans a module without its resources. */
async function plan(
  module: string,
  variables: Record<string, unknown>,
): Promise<{ code: number; output: string }> {
  for (const file of ['variables.tf', 'locals.tf'])
    if (existsSync(join(module, file))) copyFileSync(join(module, file), join(directory, file));
  writeFileSync(join(directory, 'terraform.tfvars.json'), JSON.stringify(variables));
  await terraform.run(directory, 'init', '-backend=false', '-input=false', '-no-color');
  const { code, stdout, stderr } = await terraform.run(directory, 'plan', '-input=false', '-no-color');
  // Messages are broken into lines of 78 columns.
  return { code, output: (stdout + stderr).replace(/\s*\n[│╷╵]?\s*/g, ' ') };
}

/** @param expression of local values */
async function localValue(
  expression: string,
  variables: Record<string, unknown> = EC2_VARIABLES,
): Promise<unknown> {
  writeFileSync(join(directory, 'outputs.tf'), `output "value" {\n  value = ${expression}\n}\n`);
  expect(await plan(EC2, variables)).toMatchObject({ code: 0 });
  const applied = await terraform.run(directory, 'apply', '-auto-approve', '-input=false', '-no-color');
  expect(applied).toMatchObject({ code: 0 });
  return JSON.parse((await terraform.run(directory, 'output', '-json', 'value')).stdout);
}

describe('Terraform on EC2', () => {
  test('Terraform for EC2: subnets: each zone has a subnet for nodes and a subnet for the application; outgoing traffic has another', async () => {
    const networks = '[for zone in values(local.zones) : [zone.nodes, zone.application]]';
    expect(
      await localValue(`{ zones = ${networks}, outward = local.outward, first = local.first_zone }`),
    ).toEqual({
      zones: [
        ['10.20.0.0/20', '10.20.64.0/20'],
        ['10.20.16.0/20', '10.20.80.0/20'],
        ['10.20.32.0/20', '10.20.96.0/20'],
      ],
      outward: '10.20.255.0/24',
      first: 'us-east-1a',
    });
  });

  test('Terraform for EC2: network rules: client networks reach every CQL port; nodes reach their time server', async () => {
    expect(await localValue('local.ways_out["nodes ntp"]')).toEqual({
      group: 'nodes',
      port: 123,
      protocol: 'udp',
    });
    const variables = { ...EC2_VARIABLES, client_cidr_blocks: ['10.9.0.0/16'] };
    expect(await localValue('[for rule in values(local.outside) : rule]', variables)).toEqual(
      [9042, 19042, 9142, 19142].map((port) => ({ cidr: '10.9.0.0/16', port })),
    );
  });

  test.each([
    ['only two zones', { zones: ['us-east-1a', 'us-east-1b'] }, 'three different availability zones'],
    [
      'the same zone twice',
      { zones: ['us-east-1a', 'us-east-1a', 'us-east-1b'] },
      'three different availability zones',
    ],
    ['clients from 0.0.0.0/0', { client_cidr_blocks: ['0.0.0.0/0'] }, 'none may be everybody'],
    ['clients from ::/0', { client_cidr_blocks: ['::/0'] }, 'none may be everybody'],
    ['a network too small', { cidr_block: '10.20.0.0/24' }, 'from /16 to /20'],
    ['a network too large', { cidr_block: '10.0.0.0/8' }, 'from /16 to /20'],
    ['a CIDR block that is no network', { cidr_block: 'all of it' }, 'from /16 to /20'],
    ['an AMI that is no image id', { ami: 'ubuntu' }, 'must be the id of an image'],
    ['backup versions deleted at once', { backup_versions_days: 0 }, 'must be 1 or more'],
  ])('Terraform for EC2: variables with %s: refused', async (_, wrong, message) => {
    const planned = await plan(EC2, { ...EC2_VARIABLES, ...wrong });
    expect(planned).toEqual({ code: 1, output: expect.stringContaining(message) });
  });
});

describe('Terraform for ScyllaDB Cloud', () => {
  test.each([
    ['only the required values', {}],
    ['a peering', { peerings: { application: PEERING } }],
    ['three availability zones', { availability_zone_ids: ['use1-az1', 'use1-az4', 'use1-az5'] }],
    ['a public cluster for one network', { private: false, allowed_cidr_blocks: ['203.0.113.0/24'] }],
  ])('Terraform for ScyllaDB Cloud: variables with %s: accepted', async (_, more) => {
    expect(await plan(CLOUD, { ...CLOUD_VARIABLES, ...more })).toMatchObject({ code: 0 });
  });

  test.each([
    ['four database nodes', { min_nodes: 4 }, 'must be 3 or a multiple of it'],
    ['only two zones', { availability_zone_ids: ['use1-az1', 'use1-az4'] }, 'exactly three different ids'],
    ['access for 0.0.0.0/0', { private: false, allowed_cidr_blocks: ['0.0.0.0/0'] }, 'none may be everybody'],
    [
      'a peering of a public cluster',
      { private: false, peerings: { application: PEERING } },
      'need private = true',
    ],
    ['the cloud AZURE', { cloud: 'AZURE' }, 'must be AWS or GCP'],
    ['backups kept for more than 60 days', { backup_retention_days: 61 }, 'from 0 to 60'],
  ])('Terraform for ScyllaDB Cloud: variables with %s: refused', async (_, wrong, message) => {
    const planned = await plan(CLOUD, { ...CLOUD_VARIABLES, ...wrong });
    expect(planned).toEqual({ code: 1, output: expect.stringContaining(message) });
  });
});
