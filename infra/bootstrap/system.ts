import { access, readFile } from 'node:fs/promises';
import { withoutServices } from './policy.ts';
import { askRegistry } from './registry.ts';
import { runShown } from './run-shown.ts';
import type { PackagedName } from './tools.ts';

const MANAGERS: Record<'apt' | 'dnf' | 'brew', { command: string; names: Record<PackagedName, string> }> = {
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
      spin: 'spin',
      gcc: 'build-essential',
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
      spin: 'spin',
      gcc: 'gcc',
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
      spin: 'spin',
      gcc: 'gcc',
    },
  },
};

const isRoot = () => process.getuid?.() === 0;

async function manager(): Promise<'apt' | 'dnf' | 'brew' | null> {
  if (process.platform === 'darwin') return 'brew';
  if (await exists('/usr/bin/apt-get')) return 'apt';
  if (await exists('/usr/bin/dnf')) return 'dnf';
  return null;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

export async function canInstall(): Promise<boolean> {
  return isRoot() && (await isDebian()) && (await manager()) === 'apt';
}

async function isDebian() {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID=debian$/m.test(release);
}

export async function installCommand(tools: PackagedName[]): Promise<string> {
  const name = await manager();
  if (!name) return `(with this system's package manager) ${packagesOf('apt', tools).join(' ')}`;
  const sudo = name === 'apt' && !isRoot() ? 'sudo ' : '';
  return `${sudo}${MANAGERS[name].command} ${packagesOf(name, tools).join(' ')}`;
}

const packagesOf = (name: 'apt' | 'dnf' | 'brew', tools: PackagedName[]) => [
  ...new Set(tools.map((tool) => MANAGERS[name].names[tool])),
];

/** Installs with apt, without starting services. @throws `install_failed` */
export async function installPackages(
  tools: PackagedName[],
  { onStatus, signal }: { onStatus: (text: string) => void; signal?: AbortSignal },
) {
  const packages = packagesOf('apt', tools);
  // An automatic update of the machine may hold the lock of apt. The options make apt wait for the lock instead of failing.
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const shown = { env, onStatus, signal };
  const title = `apt: ${packages.join(' ')}`;
  const install = [...options, 'install', '-y', '--no-install-recommends', ...packages];
  const advice = `To try by hand:\n  apt-get update && apt-get install -y ${packages.join(' ')}`;
  await askRegistry(
    'The mirror of Debian packages',
    async () => {
      /** Older package lists may be good enough. */
      const outdated: Error | null = await runShown('apt-get', [...options, 'update'], {
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
