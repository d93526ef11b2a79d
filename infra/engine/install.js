import { findTools } from '../bootstrap/tools.js';
import { ensureJars, hasJars } from './jars.js';

/** @import { MillraceError } from '../../common/errors.js' */

/**
 * Finds a Java 17, and fetches the engine's jars unless they are there.
 *
 * @param {string} engineDir where jars are kept
 * @param {{ onStatus: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<{ java: string, jars: string }>} paths
 * @throws {MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`
 */
export async function installEngine(engineDir, { onStatus, signal }) {
  const { java, maven } = await findTools(await neededTools(engineDir));
  const jars = await ensureJars({
    engineDir,
    maven: String(maven?.path),
    javaHome: String(java?.home),
    onStatus,
    signal,
  });
  return { java: String(java?.path), jars };
}

/** @param {string} engineDir @returns {Promise<('java' | 'maven')[]>} Maven is for fetching the jars alone */
export const neededTools = async (engineDir) => ((await hasJars(engineDir)) ? ['java'] : ['java', 'maven']);
