import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MillraceError } from '../../common/errors.js';
import { findTools } from '../bootstrap/tools.js';

const run = promisify(execFile);

/**
 * @typedef {(args: string[]) => Promise<string>} Openssl
 */

/**
 * @returns {Promise<Openssl>} a function that runs OpenSSL and returns its output
 * @throws {MillraceError} `tool_missing`
 */
export async function findOpenssl() {
  const { openssl } = await findTools(['openssl']);
  const program = openssl?.path ?? 'openssl';
  return async (args) => {
    try {
      return (await run(program, args)).stdout;
    } catch (error) {
      const { stderr } = /** @type {{ stderr?: string }} */ (error);
      throw new MillraceError('failed', `openssl ${args[0]} failed: ${stderr || error}`, { cause: error });
    }
  };
}
