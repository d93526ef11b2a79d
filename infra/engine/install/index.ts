import { findTools } from '../../bootstrap/tools.ts';
import { CASSANDRA_JARS, ensureJars, hasJars, type JarSet } from './jars.ts';

/**
 * Finds a Java 17, and downloads the jars of a server (default: Cassandra) unless they exist.
 * @throws `java_missing`, `tool_missing`, `install_failed`, `disk_full`
 */
export async function installEngine(
  engineDir: string,
  {
    set = CASSANDRA_JARS,
    onStatus,
    signal,
  }: { set?: JarSet; onStatus: (text: string) => void; signal?: AbortSignal },
): Promise<{ java: string; jars: string }> {
  const { java, maven } = await findTools(await neededTools(engineDir, set));
  const jars = await ensureJars({
    engineDir,
    set,
    maven: String(maven?.path),
    javaHome: String(java?.home),
    onStatus,
    signal,
  });
  return { java: String(java?.path), jars };
}

/** Maven is only for fetching the jars. */
export const neededTools = async (engineDir: string, set: JarSet): Promise<('java' | 'maven')[]> =>
  (await hasJars(engineDir, set)) ? ['java'] : ['java', 'maven'];
