import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { MillraceError } from '../../common/errors.ts';
import { findJava, JAVA_MAJOR } from '../engine/install/java.ts';
import { canInstall, installCommand, installPackages } from './system.ts';

interface Tool {
  title: string;
  names: string[];
  /** page that describes the installation, if no package manager has the program */
  byHand?: string;
}

const TOOLS = {
  java: { title: `Java ${JAVA_MAJOR}`, names: ['java'] },
  maven: { title: 'Maven', names: ['mvn'] },
  mosquitto: { title: 'Mosquitto', names: ['mosquitto'] },
  mosquittoClients: { title: 'mosquitto_pub', names: ['mosquitto_pub'] },
  rabbitmq: { title: 'RabbitMQ', names: ['rabbitmq-server'] },
  chromium: {
    title: 'Chromium',
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  },
  shellcheck: { title: 'shellcheck', names: ['shellcheck'] },
  openssl: { title: 'OpenSSL', names: ['openssl'] },
  curl: { title: 'curl', names: ['curl'] },
  python: { title: 'Python 3', names: ['python3'] },
  prometheus: { title: 'Prometheus', names: ['prometheus'] },
  alertmanager: { title: 'Alertmanager', names: ['prometheus-alertmanager', 'alertmanager'] },
  spin: { title: 'Spin', names: ['spin'] },
  gcc: { title: 'A C compiler', names: ['gcc', 'cc'] },
  terraform: {
    title: 'Terraform 1.11 or newer',
    names: ['terraform'],
    byHand: 'https://developer.hashicorp.com/terraform/install',
  },
  go: { title: 'Go 1.25.5 or newer', names: ['go'], byHand: 'https://go.dev/doc/install' },
  kubectl: { title: 'kubectl', names: ['kubectl'], byHand: 'https://kubernetes.io/docs/tasks/tools/' },
} satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;
type ByHandName = 'terraform' | 'kubectl' | 'go';
export type PackagedName = Exclude<ToolName, ByHandName>;
/** `home` is a Java's JAVA_HOME */
export type Found = { path: string; home?: string };

/** Folders that are searched after the PATH. Debian installs daemons in folders that are not in the PATH of ordinary users. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin', '/snap/bin', '/usr/local/go/bin'];

/**
 * Finds programs, and installs missing programs with apt where this is possible: as root on Debian.
 * @throws `java_missing`, `tool_missing`, `install_failed`
 */
export async function ensureTools(
  names: ToolName[],
  { onStatus, signal }: { onStatus: (text: string) => void; signal?: AbortSignal },
): Promise<Partial<Record<ToolName, Found>>> {
  const { missing } = await look(names);
  const packaged = missing.filter(isPackaged);
  if (packaged.length > 0 && (await canInstall())) {
    await installPackages(packaged, { onStatus, signal });
  }
  return findTools(names);
}

/** @throws `java_missing`, `tool_missing`, which names all missing programs and the command that installs them */
export async function findTools(names: ToolName[]): Promise<Partial<Record<ToolName, Found>>> {
  const { found, missing, otherJavas } = await look(names);
  if (missing.length === 0) return found;
  const titles = missing.map((name) => TOOLS[name].title).join(', ');
  const instead =
    missing.includes('java') && otherJavas.length > 0 ? ` (found: ${otherJavas.join(', ')})` : '';
  throw new MillraceError(
    missing.includes('java') ? 'java_missing' : 'tool_missing',
    `Missing on this machine: ${titles}${instead}. To install:\n  ${(await howToInstall(missing)).join('\n  ')}`,
  );
}

async function howToInstall(missing: ToolName[]): Promise<string[]> {
  const packaged = missing.filter(isPackaged);
  const pages = missing.flatMap((name) => {
    const { title, byHand } = TOOLS[name] as Tool;
    return byHand ? [`${title}: ${byHand}`] : [];
  });
  return [...(packaged.length > 0 ? [await installCommand(packaged)] : []), ...pages];
}

const isPackaged = (name: ToolName): name is PackagedName => !('byHand' in TOOLS[name]);

async function look(names: ToolName[]) {
  const found: Partial<Record<ToolName, Found>> = {};
  let otherJavas: string[] = [];
  for (const name of names) {
    if (name === 'java') {
      const { java, others } = await findJava();
      otherJavas = others;
      if (java) found.java = java;
    } else {
      const path = await findProgram(TOOLS[name].names);
      if (path) found[name] = { path };
    }
  }
  return { found, missing: names.filter((name) => !found[name]), otherJavas };
}

async function findProgram(names: string[]): Promise<string | null> {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...MORE_FOLDERS];
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return null;
}
