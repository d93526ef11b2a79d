import { medianOf } from './measure/rounds.ts';
import type { disk } from './parts/disk.ts';
import { PARTS, type Part, targetsTable } from './parts/index.ts';
import type { reading } from './parts/reading.ts';
import type { throughput } from './parts/throughput.ts';
import { type ClassResult, comparison, peerTables } from './peers/report.ts';
import { figure, type Table } from './report/table.ts';

export interface Raw {
  /** ISO 8601 */
  began: string;
  /** null: not known */
  commit: string | null;
  machine: { processors: number; model: string; memoryGiB: number; system: string; node: string };
  /** by the name of the part; parts that did not run are missing */
  results: Record<string, unknown> & {
    throughput?: ResultOf<typeof throughput>;
    disk?: ResultOf<typeof disk>;
    reading?: ResultOf<typeof reading>;
    peers?: ClassResult[];
  };
}

type ResultOf<P> = P extends Part<infer R> ? R : never;

/**
 * Replaces the text between the marks of a section. The peers have a section of their own, because a separate run measures them.
 * @throws {RangeError} when the document has no such marks
 */
export function insertBetweenMarks(document: string, text: string, section: 'bench' | 'peers'): string {
  const [begin, end] = [`<!-- ${section}: written by npm run bench:readme -->`, `<!-- /${section} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/** A section of docs/explanation/benchmarks.json, which the manual shows as tables. */
export interface Figures {
  measured: string;
  sections: Array<{ title: string | null; tables: Table[] }>;
}

export const peerFigures = (raw: Raw): Figures => ({
  measured: machineOf(raw),
  sections: [{ title: null, tables: peerTables(raw.results.peers ?? []) }],
});

export const peersHeadline = (raw: Raw): string => `${comparison(raw.results.peers ?? [])} ${machineOf(raw)}`;

export function headline(raw: Raw): string {
  const { throughput, disk, reading } = raw.results;
  const packed = throughput?.find(({ shape }) => shape === '1x60')?.rounds;
  const decimals = disk?.find(({ signal }) => signal === 'decimals');
  const lines = [
    packed &&
      `**${figure(medianOf(packed, ({ packed: { rate } }) => rate / 1000))} thousand samples/s** acknowledged with 60 samples a message, ${figure(medianOf(packed, ({ packed: { rate }, rows }) => rate / rows.rate))} times as many as with one row per sample`,
    decimals && `**${figure(decimals.history)} bytes a sample** in history on disk`,
    reading &&
      `a year of a sensor in **${figure(medianOf(reading.rounds, (results) => results.year.p50))} ms** (median), while samples arrive`,
  ];
  const list = lines.flatMap((line) => (line ? [`- ${line}`] : []));
  return [list.join('\n'), machineOf(raw)].join('\n\n');
}

export function benchFigures(raw: Raw): Figures {
  const parts = PARTS.filter(({ name, onRequest }) => !onRequest && raw.results[name] !== undefined);
  const measured = parts.map((part) => ({ title: part.title, tables: part.tables(raw.results[part.name]) }));
  const targets = { title: 'Targets', tables: [targetsTable(raw.results)] };
  return { measured: machineOf(raw), sections: [targets, ...measured] };
}

const machineOf = ({ began, commit, machine }: Raw) =>
  `Measured on ${began.slice(0, 10)}, at ${commit ? `commit ${commit}` : 'an unknown commit'}, on ${machine.processors} cores (${machine.model.trim()}, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}), which publisher, broker, ingest and database share.`;
