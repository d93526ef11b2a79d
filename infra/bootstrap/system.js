import { access, readFile } from 'node:fs/promises';
import { withoutServices } from './policy.js';
import { askRegistry } from './registry.js';
import { runShown } from './run-shown.js';

/** @import { PackagedName } from './tools.js' */

/**
 * The names of our tools in each package manager.
 * @type {Record<'apt' | 'dnf' | 'brew', { command: string, names: Record<PackagedName, string> }>}
 */
const MANAGERS = {
  apt: {
    command: 'apt-get install -y',
    names: {
      java: 'openjdk-17-jdk-headless',
      maven: 'maven',
      mosquitto: 'mosquitto',
      mosquittoClients: 'mosquitto-clients',
      chromium: 'chromium',
      shellcheck: 'shellcheck',
      openssl: 'openssl',
      curl: 'curl',
      python: 'python3-venv',
      prometheus: 'prometheus',
      alertmanager: 'prometheus-alertmanager',
    },
  },
  dnf: {
    command: 'sudo dnf install -y',
    names: {
      java: 'java-17-openjdk-headless',
      maven: 'maven',
      mosquitto: 'mosquitto',
      mosquittoClients: 'mosquitto',
      chromium: 'chromium',
      shellcheck: 'ShellCheck',
      openssl: 'openssl',
      curl: 'curl',
      python: 'python3',
      prometheus: 'golang-github-prometheus',
      alertmanager: 'golang-github-prometheus-alertmanager',
    },
  },
  brew: {
    command: 'brew install',
    names: {
      java: 'openjdk@17',
      maven: 'maven',
      mosquitto: 'mosquitto',
      mosquittoClients: 'mosquitto',
      chromium: 'chromium',
      shellcheck: 'shellcheck',
      openssl: 'openssl',
      curl: 'curl',
      python: 'python@3',
      prometheus: 'prometheus',
      alertmanager: 'alertmanager',
    },
  },
};

const isRoot = () => process.getuid?.() === 0;

/** @returns {Promise<'apt' | 'dnf' | 'brew' | null>} the package manager of this machine */
async function manager() {
  if (process.platform === 'darwin') return 'brew';
  if (await exists('/usr/bin/apt-get')) return 'apt';
  if (await exists('/usr/bin/dnf')) return 'dnf';
  return null;
}

/** @param {string} path */
const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

/** @returns {Promise<boolean>} whether we may install by ourselves: Debian, as root */
export async function canInstall() {
  return isRoot() && (await isDebian()) && (await manager()) === 'apt';
}

async function isDebian() {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID=debian$/m.test(release);
}

/** @param {PackagedName[]} tools @returns {Promise<string>} the one command that installs them here */
export async function installCommand(tools) {
  const name = await manager();
  if (!name) return `(with this system's package manager) ${packagesOf('apt', tools).join(' ')}`;
  const sudo = name === 'apt' && !isRoot() ? 'sudo ' : '';
  return `${sudo}${MANAGERS[name].command} ${packagesOf(name, tools).join(' ')}`;
}

/** @param {'apt' | 'dnf' | 'brew'} name @param {PackagedName[]} tools */
const packagesOf = (name, tools) => [...new Set(tools.map((tool) => MANAGERS[name].names[tool]))];

/**
 * Installs tools by apt; the services that come with them are not started.
 *
 * @param {PackagedName[]} tools
 * @param {{ onStatus: (text: string) => void, signal?: AbortSignal }} options
 * @throws {MillraceError} `install_failed`
 */
export async function installPackages(tools, { onStatus, signal }) {
  const packages = packagesOf('apt', tools);
  // A desktop or a cloud machine may be updating itself just now: wait for its lock instead of failing.
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const shown = { env, onStatus, signal };
  const title = `apt: ${packages.join(' ')}`;
  const install = [...options, 'install', '-y', '--no-install-recommends', ...packages];
  const advice = `To try by hand:\n  apt-get update && apt-get install -y ${packages.join(' ')}`;
  await askRegistry(
    'The mirror of Debian packages',
    async () => {
      /** If the update fails, the lists of the last one may suffice. @type {Error | null} */
      const outdated = await runShown('apt-get', [...options, 'update'], {
        ...shown,
        title: 'apt: package lists',
      }).then(
        () => null,
        (error) => error,
      );
      if (signal?.aborted) throw outdated;
      await withoutServices(() => runShown('apt-get', install, { ...shown, title })).catch((error) => {
        throw outdated && !signal?.aborted ? new Error(`${outdated.message}\n${error.message}`) : error;
      });
    },
    { onStatus, advice, signal },
  );
}
