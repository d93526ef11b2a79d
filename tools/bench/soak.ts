import { runCommand } from '../../common/command.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import { HOUR_MS } from '../../schema/rules.ts';
import type { Reading } from './environment/line.ts';
import { shapeOf } from './load/shapes.ts';
import { slopeOf, watchMemory } from './measure/machine.ts';
import { storedSamples } from './measure/stored.ts';
import { figure, textTable } from './report/table.ts';
import { runSession } from './session.ts';

const FLAGS = {
  rate: { type: 'number', help: 'samples/s, held whatever happens', fallback: 20_000, min: 1 },
  hours: { type: 'number', help: 'how long; fractions are fine', fallback: 1, min: 0.001 },
  shape: { type: 'text', help: 'the load, sensors x samples a message', fallback: '4x10' },
  every: { type: 'duration', help: 'a line of the table', fallback: 600_000, min: 1000 },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run soak --',
  help: 'Holds a fixed rate for a long time and watches memory and latencies.',
  examples: ['npm run soak -- --rate 50000 --hours 12', 'npm run soak -- --shape 1x60 --hours 0.5'],
  flags: FLAGS,
  settings: ['DATA_DIR'],
};

/** Samples and latencies of the warm-up are not counted. */
const WARM_MS = 60_000;

/** `SETTLING`: share of the first readings, which do not count for the slope. */
const MEMORY_EVERY_MS = 5000;
const SETTLING = 0.1;

// npm run soak: runs a fixed rate for a long time, and reports memory and latencies.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  const shape = shapeOf(flags.shape);
  if (!shape) throw usageError(LINE.command, [`--shape: ${flags.shape} is no load such as 4x10`]);
  const forMs = flags.hours * HOUR_MS;
  await runSession({
    name: 'soak',
    flags,
    async work({ environment, results, status, print }) {
      const wired = await environment.wired();
      const from = Date.now() - HOUR_MS;
      status('warming up');
      await wired.pace(shape, { rate: flags.rate, forMs: Math.min(WARM_MS, forMs) });
      const memory = watchMemory(Number(wired.pids['ingest']), MEMORY_EVERY_MS);
      const stretches: Array<{ minutes: number; p50: number; p99: number; p999: number; mb: number }> = [];
      const began = Date.now();

      function closeStretch({ published: { p50, p99, p999 } }: Reading) {
        const minutes = (Date.now() - began) / 60_000;
        const mb = memory.points.at(-1)?.mb ?? Number.NaN;
        stretches.push({ minutes, p50, p99, p999, mb });
        print(
          `${figure(minutes)} min: p50 ${figure(p50)} p99 ${figure(p99)} p99.9 ${figure(p999)} ms, ${figure(mb)} MB`,
        );
      }

      const { latency } = await wired.pace(shape, {
        rate: flags.rate,
        forMs,
        async onLook({ published, committed }) {
          await memory.look();
          status(
            `${figure((Date.now() - began) / 60_000)} min: ${published} messages published, ${committed} committed`,
          );
          if (Date.now() - began >= (stretches.length + 1) * flags.every)
            closeStretch(await wired.latencies());
        },
      });
      if (latency.published.count > 0) closeStretch(latency);
      status('comparing with the database');
      const committed = await wired.committed();
      const range = { devices: shape.devices, from, to: Date.now() + HOUR_MS };
      const stored = await storedSamples(wired.cql, range);
      const slope = slopeOf(memory.points.filter(({ seconds }) => seconds >= (forMs / 1000) * SETTLING));
      Object.assign(results, { stretches, memory: memory.points, slope, committed, stored });
      print(
        `\n${textTable(
          [`${flags.rate} samples/s, ${flags.shape}`, ''],
          [
            ['slope of memory, MB/h', figure(slope)],
            ['highest p99, ms', figure(Math.max(...stretches.map(({ p99 }) => p99)))],
            ['samples acknowledged, the warming up included', String(committed)],
            ['of these missing in the database', String(committed - stored)],
          ],
        )}\n`,
      );
    },
  });
});
