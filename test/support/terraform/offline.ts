import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTools } from '../../../infra/bootstrap/index.js';

/** @import { ExecFileException } from 'node:child_process' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Found } from '../../../infra/bootstrap/tools.js' */

const run = promisify(execFile);

/** Nothing listens on this port, so every network request fails at once. */
const UNREACHABLE = 'http://127.0.0.1:9';

/** @typedef {{ code: number, stdout: string, stderr: string }} Ended */
/** @typedef {{ run: (directory: string, ...args: string[]) => Promise<Ended>, remove: () => void }} Terraform */

/**
 * Runs Terraform without a network, without the user's configuration, and with its data outside the repository.
 *
 * @returns {Promise<Terraform>}
 * @throws {MillraceError} `tool_missing`, with instructions for its installation
 */
export async function offlineTerraform() {
  const { terraform } = await findTools(['terraform']);
  const data = mkdtempSync(join(tmpdir(), 'millrace-terraform-'));
  const env = {
    ...process.env,
    TF_DATA_DIR: data,
    TF_CLI_CONFIG_FILE: '/dev/null',
    CHECKPOINT_DISABLE: '1',
    HTTPS_PROXY: UNREACHABLE,
    HTTP_PROXY: UNREACHABLE,
    NO_PROXY: '',
    no_proxy: '',
  };
  return {
    run: async (directory, ...args) => {
      const path = /** @type {Found} */ (terraform).path;
      try {
        const { stdout, stderr } = await run(path, [`-chdir=${directory}`, ...args], { env });
        return { code: 0, stdout, stderr };
      } catch (error) {
        const { code, stdout, stderr } = /** @type {ExecFileException & Ended} */ (error);
        if (typeof code !== 'number') throw error;
        return { code, stdout, stderr };
      }
    },
    remove: () => rmSync(data, { recursive: true, force: true }),
  };
}
