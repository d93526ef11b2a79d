import { startScript } from './api-process.js';

/**
 * Starts `npm run simulator` as a separate process.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [environment] in addition to PATH
 */
export function startSimulator(args, environment = {}) {
  const env = { PATH: process.env['PATH'], ...environment };
  const simulator = startScript('simulator/index.js', args, { env });
  return {
    ...simulator,
    /** Exit code, output, and the figures of the summary. */
    ended: simulator.ended.then((end) => ({ ...end, summary: readSummary(end.output) })),
  };
}

/** @param {string} output */
function readSummary(output) {
  const found =
    /([\d,]+) samples made, ([\d,]+) acknowledged, ([\d,]+) dropped, ([\d,]+) left unacknowledged/.exec(
      output,
    );
  if (!found) return null;
  const [made, acknowledged, dropped, left] = found.slice(1).map((text) => Number(text.replaceAll(',', '')));
  return { made, acknowledged, dropped, left };
}
