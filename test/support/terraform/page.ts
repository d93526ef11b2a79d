import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../operations/run.ts';
import { writePrograms } from '../processes/programs.ts';

/** The pages of a cluster that Terraform creates, in the order in which a reader follows them. */
const PAGES = ['docs/how-to/deploy-the-database.md', 'docs/how-to/set-up-scylladb-manager.md'];
const FOLDER = 'infra/terraform';
const NOTE = 'printf "%s\\n" "$(basename "$0") $*" >>"$FAKE_AWS/log"';

/** Fake programs: they record their calls, and that of Terraform prints the outputs of the test. */
const PROGRAMS = {
  ...Object.fromEntries(
    ['nodetool', 'gpg', 'curl', 'apt-get', 'chgrp', 'scyllamgr_agent_setup', 'systemctl', 'runuser'].map(
      (name) => [name, NOTE],
    ),
  ),
  sleep: '',
  terraform: `${NOTE}
[ "$2 $3" != 'output -raw' ] || cat "$FAKE_AWS/outputs/$4"`,
  npm: `exec node ${resolve('test/support/terraform/npm.ts')} "$@"`,
  aws: `exec node ${resolve('test/support/operations/aws.ts')} "$@"`,
};

const BOTO3 = `import json, os
class client:
  def __init__(self, service, region_name):
    self.region = region_name
  def get_parameter(self, Name, WithDecryption):
    stored = json.load(open(os.environ["FAKE_AWS"] + "/parameter.json"))
    assert (self.region, Name, WithDecryption) == ("us-east-1", stored["name"], True)
    return {"Parameter": {"Value": stored["value"]}}
`;

/** @returns the shell blocks of the pages, in their order */
export const blocks = (): string[] =>
  PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => String(block)),
  );

/**
 * Makes a checkout in which the page can run without AWS.
 * @param outputs of Terraform; names that infra/terraform does not have are refused
 */
export function makeCheckout(outputs: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'millrace-page-'));
  const path = (...segments: string[]) => join(root, ...segments);
  for (const directory of ['bin', 'outputs', 'python']) mkdirSync(path(directory));
  for (const source of [FOLDER, 'infra/operations/ssm.sh', 'infra/versions.env'])
    cpSync(source, path(source), { recursive: true });
  writePrograms(path('bin'), PROGRAMS);
  writeFileSync(path('python', 'boto3.py'), BOTO3);
  const outputNames = names(join(FOLDER, 'outputs.tf'), 'output');
  for (const [name, value] of Object.entries(outputs)) {
    if (!outputNames.includes(name)) throw new Error(`there is no output ${name}`);
    writeFileSync(path('outputs', name), value);
  }
  const env = {
    PATH: `${path('bin')}:${process.env['PATH']}`,
    HOME: root,
    FAKE_AWS: root,
    PYTHONPATH: path('python'),
    CONFIG: path('agent.yaml'),
  };
  return {
    path,
    read: (file: string) => readFileSync(path(file), 'utf8'),
    mode: (file: string) => statSync(path(file)).mode & 0o777,
    /** @param chosen blocks @param typed the input of the reader */
    runBlocks: (chosen: string[], typed: string = '') => {
      writeFileSync(path('typed'), typed);
      return run('bash', ['-euo', 'pipefail', '-c', `cd "$HOME"; exec <typed; ${chosen.join('\n')}`], env);
    },
    /** @returns names in a file of values that are no variables */
    unknownValues: (file: string): string[] => {
      const known = names(join(FOLDER, 'variables.tf'), 'variable');
      const given = [...readFileSync(path(FOLDER, file), 'utf8').matchAll(/^(\w+) *=/gm)].map(([, name]) =>
        String(name),
      );
      return given.filter((name) => !known.includes(name));
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** @param file of HCL */
const names = (file: string, kind: string) =>
  [...readFileSync(file, 'utf8').matchAll(new RegExp(`^${kind} "(\\w+)"`, 'gm'))].map(([, name]) =>
    String(name),
  );
