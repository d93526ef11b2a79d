import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { operate, run } from '../support/operations/fakes.js';
import { blocks, makeCheckout } from '../support/terraform/page.js';

// The page of infra/terraform as a reader goes it: its blocks are run from top to bottom, each at the root of a checkout, in one
// shell. Programs of AWS and Terraform are stood in for; the settings that come out are read as the application reads them.

const INSTANCES = 'i-0123456789abcdef0,i-0123456789abcdef1';
const PRIVATE = { CQL_LOCAL_DC: 'us-east', CQL_KEYSPACE: 'iot' };

/** What comes before the database is spoken to. */
const FIRST = [{ words: 'ci' }, { words: 'run size' }];

/** @type {ReturnType<typeof makeCheckout>} */
let checkout;

afterEach(() => checkout?.remove());

/** @param {Record<string, string>} settings as the examples put them out */
const env = (settings) =>
  Object.entries({ ...PRIVATE, ...settings })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** What the example of EC2 puts out, whatever is done with it. */
const OF_EC2 = {
  database_env: env({
    CQL_CONTACT_POINTS: '10.20.0.10:9042',
    CQL_USERNAME: 'millrace',
    TLS_ELSEWHERE: 'true',
  }),
  manager_agent_token: '/millrace/manager-agent-token',
};

/** @param {'aws-ec2' | 'scylladb-cloud'} example @returns {string[]} what the page has for it */
const blocksOf = (example) =>
  blocks()
    .filter((block) => !/SCYLLADB_CLOUD_TOKEN|output -raw cql_ca/.test(block) || example === 'scylladb-cloud')
    .filter(
      (block) =>
        !/superuser_salted|instance_ids|manager_agent_token|versions\.env|\$nodes/.test(block) ||
        example === 'aws-ec2',
    )
    .map((block) => block.replace(/^example=\S+/m, `example=infra/terraform/examples/${example}`));

/** @returns {Record<string, any>[]} what each of npm's commands read */
const read = () =>
  checkout
    .read('npm.log')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('leads to an application on EC2, and to agents that have their token from nowhere else', async () => {
  checkout = makeCheckout('aws-ec2', {
    ...OF_EC2,
    instance_ids: INSTANCES,
    backup_location: 's3:YOUR-COMPANY-millrace-backups',
  });
  const walked = await checkout.walk(blocksOf('aws-ec2'), 'https://packages.example/manager.list\n');
  expect(walked).toMatchObject({ code: 0 });
  for (const file of ['terraform.tfvars', 'secret.auto.tfvars'])
    expect(checkout.unknownValues(file)).toEqual([]);

  const password = checkout.read('secrets/superuser_password').trim();
  expect(read()).toMatchObject([
    ...FIRST,
    { words: 'run roles', username: 'millrace', password, contactPoints: ['10.20.0.10:9042'] },
    { words: 'run migrate', username: 'millrace_migrate' },
    { words: 'start', username: 'millrace_serve' },
  ]);

  const token = checkout.read('secrets/manager_agent_token').trim();
  expect(token).toMatch(/^[0-9a-f]{128}$/);
  expect(checkout.read('agent.yaml')).toBe(`auth_token: "${token}"\ns3:\n  region: us-east-1\n`);
  expect(checkout.mode('agent.yaml')).toBe(0o640);
  const log = checkout.read('log');
  expect(log.match(/^nodetool status$/gm)).toHaveLength(1);
  // A file of the package that somebody has changed: a newer package asks, and there is nobody.
  expect(log).toContain('apt-get install -y -o Dpkg::Options::=--force-confold scylla-manager-agent=');
  expect(log.match(/check-location --location s3:YOUR-COMPANY-millrace-backups$/gm)).toHaveLength(2);
  for (const secret of [token, password])
    expect(log + walked.out + checkout.read('sent.json')).not.toContain(secret);
});

test('may be gone through again, and no secret is another then', async () => {
  checkout = makeCheckout('aws-ec2', OF_EC2);
  const making = blocksOf('aws-ec2').filter((block) => /openssl rand|database_env/.test(block));
  const walk = async () => {
    expect(
      await checkout.walk(['region=us-east-1 example=infra/terraform/examples/aws-ec2', ...making]),
    ).toMatchObject({ code: 0 });
    const names = readdirSync(checkout.path('secrets')).filter((name) => name !== 'database.env');
    return Object.fromEntries(names.map((name) => [name, checkout.read(`secrets/${name}`)]));
  };
  const first = await walk();
  expect(Object.keys(first)).toHaveLength(5);
  expect(await walk()).toEqual(first);
});

test('has nodes that Terraform has started waited for and cleaned after, and not started again', async () => {
  const page = readFileSync('docs/how-to/deploy-the-database.md', 'utf8');
  const words = /`npm run operations -- (add-node [^`]*)`/.exec(page)?.[1] ?? '';
  const given = words
    .replace('ALL-BUT-ONE', 'a,b,c,d,e')
    .replace('THE-LAST', 'f')
    .replace(/'([^']*)'/, '$1');
  const argv = given.replace('sh infra/operations/reach/ssm.sh', 'REACH').split(' ');
  const { code, out } = await operate([...argv, '--dry-run'], process.env);
  expect(code).toBe(0);
  expect(out).toContain('all != 6 || up != 6');
  expect(out).toContain("REACH a 'nodetool cluster cleanup'");
  expect(out).not.toContain('systemctl');
});

test('the script for agents is one that shellcheck takes, and says what it wants', async () => {
  const script = 'infra/terraform/manager-agent.sh';
  expect(await run('shellcheck', [script], process.env)).toMatchObject({ out: '', code: 0 });
  expect(await run('sh', [script], process.env)).toMatchObject({ code: 2 });
});

test.each([
  ['with TLS', 'PEM', '9142', 'false'],
  ['without', '', '9042', 'true'],
])('leads to an application on ScyllaDB Cloud %s', async (_, certificate, port, elsewhere) => {
  checkout = makeCheckout('scylladb-cloud', {
    database_env: env({
      CQL_CONTACT_POINTS: `one:${port}`,
      CQL_USERNAME: 'scylla',
      TLS_ELSEWHERE: elsewhere,
    }),
    superuser_password: 'secret-of-the-cloud',
    cql_ca: certificate,
  });
  const walked = await checkout.walk(blocksOf('scylladb-cloud'), 'token\n');
  expect(walked).toMatchObject({ code: 0 });
  expect(checkout.unknownValues('terraform.tfvars')).toEqual([]);
  const tls = certificate ? { tlsCa: 'secrets/cql_ca.pem' } : {};
  expect(read()).toMatchObject([
    ...FIRST,
    { words: 'run roles', username: 'scylla', password: 'secret-of-the-cloud', ...tls },
    { words: 'run migrate', username: 'millrace_migrate', ...tls },
    { words: 'start', username: 'millrace_serve', contactPoints: [`one:${port}`], ...tls },
  ]);
});
