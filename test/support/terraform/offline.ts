import { type ExecFileException, execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTools } from '../../../infra/bootstrap/index.ts';
import type { Found } from '../../../infra/bootstrap/tools.ts';

const run = promisify(execFile);

/** Nothing listens on this port, so every network request fails at once. */
const UNREACHABLE = 'http://127.0.0.1:9';

type Ended = { code: number; stdout: string; stderr: string };
export type Terraform = { run: (directory: string, ...args: string[]) => Promise<Ended>; remove: () => void };

/**
 * Runs Terraform without a network, without the user's configuration, and with its data outside the repository.
 * @throws `tool_missing`, with instructions for its installation
 */
export async function offlineTerraform(): Promise<Terraform> {
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
      const path = (terraform as Found).path;
      try {
        const { stdout, stderr } = await run(path, [`-chdir=${directory}`, ...args], { env });
        return { code: 0, stdout, stderr };
      } catch (error) {
        const { code, stdout, stderr } = error as ExecFileException & Ended;
        if (typeof code !== 'number') throw error;
        return { code, stdout, stderr };
      }
    },
    remove: () => rmSync(data, { recursive: true, force: true }),
  };
}
