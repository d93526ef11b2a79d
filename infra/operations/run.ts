import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { MillraceError } from '../../common/errors.ts';
import type { StatusLine } from '../../common/status-line.ts';
import { commandLine, type Step } from './plan.ts';

const SHOWN_EVERY_MS = 1000;

/**
 * @throws `usage`: there is no step `from`; `failed`: a step failed. The message names the step, and the command that
 * continues at this step
 */
export async function runPlan(
  steps: Step[],
  {
    reach,
    from,
    again,
    line,
  }: {
    /** runs a script on a node, see `commandLine` */
    reach: string;
    /** counted from 1; earlier steps are skipped */
    from: number;
    /** arguments with which a repeated command gets the same steps */
    again: string;
    line: StatusLine;
  },
) {
  if (from > steps.length) {
    throw new MillraceError('usage', `--from ${from}: there are ${steps.length} steps.`);
  }
  for (const [index, step] of steps.entries()) {
    const number = index + 1;
    if (number < from) continue;
    const title = `${number}/${steps.length} ${step.title}`;
    const began = Date.now();
    const seconds = () => Math.round((Date.now() - began) / 1000);
    line.print(title);
    const show = setInterval(() => line.update(`${title}: ${seconds()} s`), SHOWN_EVERY_MS);
    const code = await perform(commandLine(step, reach), line).finally(() => clearInterval(show));
    line.clear();
    if (code !== 0) {
      throw new MillraceError(
        'failed',
        `Step ${title} failed (${code}). The steps before it are done. Fix the cause, then go on with the same command and ${again}--from ${number}.${step.ifItFails ? `\n${step.ifItFails}` : ''}`,
      );
    }
    line.print(`${title}: done in ${seconds()} s`);
  }
}

/** @returns exit code or signal */
async function perform(script: string, line: StatusLine): Promise<number | string> {
  const child = spawn('sh', ['-euc', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (text) => line.print(`  ${text}`));
  }
  const [code, signal] = await once(child, 'close');
  return signal ?? code;
}
