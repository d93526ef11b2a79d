import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The Java version for the servers. Cassandra 5.0 runs on Java 11 and 17, but only 17 is tested here. */
export const JAVA_MAJOR = 17;

/** Time limit for a Java to print its version, in ms. It is long, because a busy machine may stall. */
const JAVA_ANSWERS_MS = 60_000;

/** Places of a Java that is neither in JAVA_HOME nor on the PATH. */
const JAVA_FOLDERS = [
  '/usr/lib/jvm',
  '/Library/Java/JavaVirtualMachines',
  '/opt/homebrew/opt',
  '/usr/local/opt',
];

interface Java {
  path: string;
  /** JAVA_HOME of this Java, which Maven needs */
  home: string;
}

/**
 * Searches for a Java 17 in JAVA_HOME, then in the PATH, then in the usual folders.
 * @returns `others`: other versions that were found, e.g. `25 at /usr/bin/java`
 */
export async function findJava(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<{ java: Java | null; others: string[] }> {
  const others: string[] = [];
  for (const path of await candidates(environment)) {
    const found = await inspect(path);
    if (found?.major === JAVA_MAJOR) return { java: { path, home: found.home }, others };
    if (found) others.push(`${found.major} at ${path}`);
  }
  return { java: null, others };
}

/** The paths may not exist. */
async function candidates(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const homes = environment.JAVA_HOME ? [environment.JAVA_HOME] : [];
  const onPath = (environment.PATH ?? '').split(delimiter).filter(Boolean);
  const installed = [];
  for (const folder of JAVA_FOLDERS) {
    const names = await readdir(folder).catch(() => [] as string[]);
    for (const name of names.filter((one) => one.includes('17'))) {
      installed.push(join(folder, name), join(folder, name, 'Contents/Home'));
    }
  }
  return [
    ...new Set([
      ...homes.map((home) => join(home, 'bin/java')),
      ...onPath.map((folder) => join(folder, 'java')),
      ...installed.map((home) => join(home, 'bin/java')),
    ]),
  ];
}

/** `java -version` alone does not print the home. @returns null: no Java runs at this path */
async function inspect(path: string): Promise<{ major: number; home: string } | null> {
  try {
    const { stderr } = await run(path, ['-XshowSettings:properties', '-version'], {
      timeout: JAVA_ANSWERS_MS,
    });
    const version = /java\.specification\.version = (?:1\.)?(\d+)/.exec(stderr);
    const home = /java\.home = (.+)/.exec(stderr);
    return version && home ? { major: Number(version[1]), home: String(home[1]).trim() } : null;
  } catch {
    return null; // The program is missing, or it is the placeholder of macOS, which only asks to install Java.
  }
}
