/**
 * Checks the npm dependencies: `node .ci/supply-chain.ts [--strict]`. The lock file must agree with package.json and install without any
 * package's script. The programs must start with the installed packages. Each package must be pinned by a hash, have a license that we
 * accept, and have no known vulnerability, if the registry supports audits.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

const LICENSES = ['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'];

/** Millrace does not distribute its development tools. */
const TOOL_LICENSES = [
  'MPL-2.0',
  'CC-BY-3.0',
  'CC-BY-4.0',
  'CC BY-SA 4.0',
  'CC0-1.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'WTFPL',
];

/**
 * The lock file names no license of these packages: their package.json has an older form, or only their readme states the license. All are
 * dependencies of s3rver, the S3 server of the tests.
 */
const STATED_ELSEWHERE: Record<string, string> = {
  busboy: 'MIT',
  dicer: 'MIT',
  streamsearch: 'MIT',
  'humanize-number': 'MIT',
  only: 'MIT',
};

type Locked = {
  version: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
};

const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
delete packages['']; // The repository itself.

const vulnerabilities = await checkAudit();
const isStrict = process.argv.includes('--strict');
if (!isStrict) for (const text of vulnerabilities) console.error(`supply chain: to be looked at: ${text}`);
const problems = [
  ...checkPackages(packages),
  ...(await checkInstall()),
  ...(isStrict ? vulnerabilities : []),
];
for (const problem of problems) console.error(`supply chain: ${problem}`);
console.log(`supply chain: ${Object.keys(packages).length} packages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

function checkPackages(locked: Record<string, Locked>): string[] {
  return Object.entries(locked).flatMap(([path, { license, integrity, dev, optional, link }]) => {
    const allowed = dev ? [...LICENSES, ...TOOL_LICENSES] : LICENSES;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const stated = license ?? (dev ? STATED_ELSEWHERE[name] : undefined);
    const choices = (stated ?? 'none').replaceAll(/[()]/g, '').split(' OR ');
    return [
      ...(choices.some((each) => allowed.includes(each)) ? [] : [`${path}: license ${stated ?? 'unknown'}`]),
      // npm records the hash of another platform's package only after an installation on that platform.
      ...(integrity || optional ? [] : [`${path}: no hash in package-lock.json`]),
      ...(link ? [`${path}: is a link, not a package of a registry`] : []),
    ];
  });
}

/** Installs in an empty directory. @returns problems */
async function checkInstall(): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-supply-'));
  try {
    for (const name of ['package.json', 'package-lock.json', 'api', 'common', 'schema', 'simulator', 'web']) {
      await cp(join(root, name), join(directory, name), { recursive: true });
    }
    // `npm ci` itself refuses a lock file that differs from package.json.
    const flags = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', ['ci', ...flags], { cwd: directory });
    const { stdout: help } = await run(process.execPath, ['simulator/index.ts', '--help'], {
      cwd: directory,
    }).catch((error) => error);
    // The API loads all its modules before it reads the settings. So its error about this invalid `ROLE` proves that all modules load.
    const { stderr } = await run(process.execPath, ['api/index.ts'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ROLE: 'nothing' },
    }).catch((error) => error);
    return [
      ...(/--devices/.test(help) ? [] : ['the simulator does not start without install scripts']),
      ...(/^Settings to correct:/m.test(stderr)
        ? []
        : [`the API does not start without install scripts:\n${stderr}`]),
    ];
  } catch (error) {
    return [`npm ci: ${(error as Error).message}`];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A registry without audits is logged, and counts as no problem. */
async function checkAudit(): Promise<string[]> {
  const { stdout = '' } = await run(
    'npm',
    ['audit', '--json', '--omit=dev', '--fetch-retries=0', '--fetch-timeout=20000'],
    { cwd: root },
  ).catch((error) => error);
  const { vulnerabilities, message } = parse(stdout);
  if (!vulnerabilities) {
    console.log(`supply chain: not audited: ${message ?? 'npm audit gave no answer'}`);
    return [];
  }
  return Object.values(vulnerabilities).map(
    ({ name, severity, range }) => `${name} ${range}: a known vulnerability, ${severity}`,
  );
}

function parse(text: string): { vulnerabilities?: Record<string, Record<string, string>>; message?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
