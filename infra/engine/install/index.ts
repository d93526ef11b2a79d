import { findTools } from '../../bootstrap/tools.js';
import { CASSANDRA_JARS, ensureJars, hasJars } from './jars.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { JarSet } from './jars.js' */

/**
 * Finds a Java 17, and downloads the jars of a server unless they exist.
 *
 * @param {string} engineDir folder that keeps the jars
 * @param {{ set?: JarSet, onStatus: (text: string) => void, signal?: AbortSignal }} options `set`: default: Cassandra's
 * @returns {Promise<{ java: string, jars: string }>} paths
 * @throws {MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`
 */
export async function installEngine(engineDir, { set = CASSANDRA_JARS, onStatus, signal }) {
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

/** @param {string} engineDir @param {JarSet} [set] @returns {Promise<('java' | 'maven')[]>} Maven is for fetching the jars alone */
export const neededTools = async (engineDir, set = CASSANDRA_JARS) =>
  (await hasJars(engineDir, set)) ? ['java'] : ['java', 'maven'];
