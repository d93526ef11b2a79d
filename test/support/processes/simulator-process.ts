import { startScript } from './api-process.ts';

/** @param environment in addition to PATH */
export function startSimulator(args: string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env['PATH'], ...environment };
  const simulator = startScript('simulator/index.ts', args, { env });
  return {
    ...simulator,
    ended: simulator.ended.then((end) => ({ ...end, summary: readSummary(end.output) })),
  };
}

function readSummary(output: string) {
  const found =
    /measured ([\d,]+) samples: ([\d,]+) acknowledged, ([\d,]+) dropped, ([\d,]+) left unacknowledged/.exec(
      output,
    );
  if (!found) return null;
  const [made, acknowledged, dropped, left] = found.slice(1).map((text) => Number(text.replaceAll(',', '')));
  return { made, acknowledged, dropped, left };
}
