import { beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../../support/json.ts';
import { readTerraform } from '../../support/terraform/applied.ts';
import { type Thing, thingsOf } from '../../support/terraform/stand-ins.ts';

// Security rules for the network, the machines, the bucket and the permissions on EC2.

const INSTALLS_MS = 300_000;
const EVERYBODY = /0\.0\.0\.0\/0|::\/0/;

let files: Record<string, Json>;
let things: Thing[];

beforeAll(async () => {
  files = await readTerraform();
  things = thingsOf(files);
}, INSTALLS_MS);

const all = (type: string) => things.filter((thing) => thing.type === type);

/** @returns the body of the only resource of this type */
const only = (type: string): Record<string, Json> => {
  expect(all(type)).toHaveLength(1);
  return all(type)[0]?.body ?? {};
};

test('Terraform for EC2: addresses 0.0.0.0/0 and ::/0: only in outgoing routes and rules', () => {
  const named = things.filter(({ body }) => EVERYBODY.test(JSON.stringify(body))).map(({ type }) => type);
  expect(new Set(named)).toEqual(new Set(['aws_route', 'aws_vpc_security_group_egress_rule']));
  for (const { body } of [...all('aws_security_group'), ...all('aws_default_security_group')])
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['ingress']));
});

test('Terraform for EC2: machines: no public address, no SSH key, encrypted disks, a token for instance metadata', () => {
  for (const { body } of all('aws_subnet')) expect(body['map_public_ip_on_launch']).toBe(false);
  expect(all('aws_instance')).toHaveLength(3);
  for (const { body } of all('aws_instance')) {
    expect(body).not.toHaveProperty('associate_public_ip_address');
    expect(body).not.toHaveProperty('key_name');
    expect(body['metadata_options']).toMatchObject([{ http_tokens: 'required' }]);
    expect(body['root_block_device']).toMatchObject([{ encrypted: true }]);
  }
});

test('Terraform for EC2: database nodes: cannot be stopped, replaced or terminated, because their disks would become empty', () => {
  const nodes = all('aws_instance').filter(({ name }) => name !== 'monitoring');
  for (const { body } of nodes) {
    expect(body).toMatchObject({
      disable_api_termination: true,
      disable_api_stop: true,
      lifecycle: [{ prevent_destroy: true, ignore_changes: ['ami', 'user_data', 'user_data_base64'] }],
    });
  }
  const [first, other] = nodes.map(({ body }) => {
    const { subnet_id, private_ip, tags, for_each, depends_on, ...shared } = body;
    return shared;
  });
  expect(other).toEqual(first);
});

test('Terraform for EC2: backup bucket: private, encrypted, without access by plain HTTP, and keeps deleted files', () => {
  expect(only('aws_s3_bucket')).toMatchObject({ lifecycle: [{ prevent_destroy: true }] });
  expect(only('aws_s3_bucket_public_access_block')).toMatchObject({
    block_public_acls: true,
    block_public_policy: true,
    ignore_public_acls: true,
    restrict_public_buckets: true,
  });
  expect(only('aws_s3_bucket_versioning')['versioning_configuration']).toMatchObject([{ status: 'Enabled' }]);
  const [encryption] = only('aws_s3_bucket_server_side_encryption_configuration')['rule'];
  expect(encryption['apply_server_side_encryption_by_default']).toMatchObject([{ sse_algorithm: 'AES256' }]);
  // Only the retention of Scylla Manager removes current files. An age limit would remove files of tables that never change.
  for (const rule of only('aws_s3_bucket_lifecycle_configuration')['rule'])
    for (const { days } of rule['expiration'] ?? []) expect(days).toBeUndefined();
  const [deny] = statements().filter(({ statement }) => statement['effect'] === 'Deny');
  expect(deny?.statement['condition']).toMatchObject([
    { variable: 'aws:SecureTransport', values: ['false'] },
  ]);
  expect(only('aws_s3_bucket_policy')['policy']).toContain('data.aws_iam_policy_document.only_tls.json');
});

const statements = (): { name: string; statement: Record<string, Json> }[] =>
  all('data.aws_iam_policy_document').flatMap(({ name, body }) =>
    body['statement'].map((statement: Record<string, Json>) => ({ name, statement })),
  );

test('Terraform for EC2: IAM permissions: no wildcard in actions; all resources only for actions that accept no resource', () => {
  expect(all('aws_iam_role_policy_attachment')).toEqual([]);
  for (const { name, statement } of statements().filter(({ statement: { effect } }) => effect !== 'Deny')) {
    for (const action of statement['actions']) {
      expect([name, action]).toEqual([name, expect.not.stringContaining('*')]);
      // A node may not read or delete old versions of backups, or change the bucket.
      if (name === 'backups') expect(action).not.toMatch(/Version|^s3:Put(?!Object$)/);
      if (name === 'sessions')
        expect(action).toMatch(/^(ssm:UpdateInstanceInformation|(ssm|ec2)messages:\w+)$/);
    }
    if (name !== 'sessions' && name !== 'assume')
      expect(statement['resources'].join()).toMatch(
        /^\$\{aws_s3_bucket\.backups\.arn\}(\/\*)?$|:parameter\$\{local\.manager_agent_token\}$/,
      );
  }
});

test('Terraform for EC2: state: in an S3 bucket, encrypted and locked; outputs contain no secret', () => {
  const text = JSON.stringify(files['infra/terraform/main.tf']);
  expect(text).toMatch(/"backend".*"s3".*"encrypt":\s?true.*"use_lockfile":\s?true/);
  expect(JSON.stringify(files['infra/terraform/outputs.tf'])).not.toMatch(/password|user_data/);
  const [variable] = files['infra/terraform/variables.tf']['variable'].flatMap(
    (block: Record<string, Json>) => block['superuser_salted_password'] ?? [],
  );
  expect(variable).toMatchObject({ sensitive: true });
  expect(variable).not.toHaveProperty('default');
});
