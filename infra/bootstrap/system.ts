import { access, readFile } from 'node:fs/promises';
import { withoutServices } from './policy.ts';
import { askRegistry } from './registry.ts';
import { runShown } from './run-shown.ts';
import type { PackagedName } from './tools.ts';

type Manager = 'apt' | 'dnf' | 'brew';

const COMMANDS: Record<Manager, string> = {
  apt: 'apt-get install -y',
  dnf: 'sudo dnf install -y',
  brew: 'brew install',
};

/** A text: all package managers know the same name. */
const PACKAGES: Record<PackagedName, string | Record<Manager, string>> = {
  java: { apt: 'openjdk-17-jdk-headless', dnf: 'java-17-openjdk-headless', brew: 'openjdk@17' },
  maven: 'maven',
  mosquitto: 'mosquitto',
  mosquittoClients: { apt: 'mosquitto-clients', dnf: 'mosquitto', brew: 'mosquitto' },
  rabbitmq: { apt: 'rabbitmq-server', dnf: 'rabbitmq-server', brew: 'rabbitmq' },
  chromium: 'chromium',
  shellcheck: { apt: 'shellcheck', dnf: 'ShellCheck', brew: 'shellcheck' },
  openssl: 'openssl',
  curl: 'curl',
  python: { apt: 'python3-venv', dnf: 'python3', brew: 'python@3' },
  prometheus: { apt: 'prometheus', dnf: 'golang-github-prometheus', brew: 'prometheus' },
  alertmanager: {
    apt: 'prometheus-alertmanager',
    dnf: 'golang-github-prometheus-alertmanager',
    brew: 'alertmanager',
  },
  spin: 'spin',
  gcc: { apt: 'build-essential', dnf: 'gcc', brew: 'gcc' },
};

const isRoot = () => process.getuid?.() === 0;

async function manager(): Promise<Manager | null> {
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
  return `${sudo}${COMMANDS[name]} ${packagesOf(name, tools).join(' ')}`;
}

const packageOf = (name: Manager, tool: PackagedName) => {
  const known = PACKAGES[tool];
  return typeof known === 'string' ? known : known[name];
};

const packagesOf = (name: Manager, tools: PackagedName[]) => [
  ...new Set(tools.map((tool) => packageOf(name, tool))),
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
