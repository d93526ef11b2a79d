import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MillraceError } from '../../common/errors.ts';
import { findTools } from '../bootstrap/tools.ts';

const run = promisify(execFile);

export type Openssl = (args: string[]) => Promise<string>;

/** @throws `tool_missing` */
export async function findOpenssl(): Promise<Openssl> {
  const { openssl } = await findTools(['openssl']);
  const program = openssl?.path ?? 'openssl';
  return async (args) => {
    try {
      return (await run(program, args)).stdout;
    } catch (error) {
      const { stderr } = error as { stderr?: string };
      throw new MillraceError('failed', `openssl ${args[0]} failed: ${stderr || error}`, { cause: error });
    }
  };
}
