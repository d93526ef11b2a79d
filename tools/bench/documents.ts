import { medianOf } from './measure/rounds.ts';
import type { disk } from './parts/disk.ts';
import { PARTS, type Part, targetsTable } from './parts/index.ts';
import type { reading } from './parts/reading.ts';
import type { throughput } from './parts/throughput.ts';
import { type ClassResult, comparison, peerTables } from './peers/report.ts';
import { figure, markdownTable } from './report/table.ts';

/** The peers have marks of their own, because a separate run measures them. */
const MARKS = {
  bench: { begin: '<!-- bench: written by npm run bench:readme -->', end: '<!-- /bench -->' },
  peers: { begin: '<!-- peers: written by npm run bench:readme -->', end: '<!-- /peers -->' },
};

/** @throws {RangeError} when the document has no marks of the section */
export function insertBetweenMarks(
  document: string,
  text: string,
  section: keyof typeof MARKS = 'bench',
): string {
  const { begin, end } = MARKS[section];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/** @throws {RangeError} when the document has no marks of the peers */
export function insertPeers(document: string, raw: Raw): string {
  const tables = peerTables(raw.results.peers ?? []);
  const parts = [machineOf(raw), ...tables.map(({ head, rows }) => markdownTable(head, rows))];
  return insertBetweenMarks(document, parts.join('\n\n'), 'peers');
}

/** @throws {RangeError} when the document has no marks of the peers */
export const insertComparison = (document: string, raw: Raw): string =>
  insertBetweenMarks(document, `${comparison(raw.results.peers ?? [])} ${machineOf(raw)}`, 'peers');

export const hasOthers = ({ results }: Raw): boolean => Object.keys(results).some((name) => name !== 'peers');

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
  return [
    lines
      .filter(Boolean)
      .map((line) => `- ${line}`)
      .join('\n'),
    machineOf(raw),
  ].join('\n\n');
}

export function everything(raw: Raw): string {
  const parts = PARTS.filter(({ name, onRequest }) => !onRequest && raw.results[name] !== undefined);
  const targets = targetsTable(raw.results);
  return [
    machineOf(raw),
    ...(targets.rows.length > 0 ? ['## Targets', markdownTable(targets.head, targets.rows)] : []),
    ...parts.flatMap((part) => [
      `## ${part.title}`,
      ...part.tables(raw.results[part.name]).map(({ head, rows }) => markdownTable(head, rows)),
    ]),
  ].join('\n\n');
}

const machineOf = ({ began, commit, machine }: Raw) =>
  `Measured on ${began.replaceAll(/T[^,]*/g, '').replaceAll(',', ' and ')}, ${commitText(commit)}, on ${machine.processors} cores (${machine.model.trim()}, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}), which publisher, broker, ingest and database share.`;

/** Such as `at commit 1a2b3c4d5e6f`, `before commit 1a2b3c4`. */
export function commitText(commit: string | null | undefined): string {
  if (!commit) return 'at an unknown commit';
  const [, before, name] = /^(before )?(.*)$/s.exec(commit) as RegExpExecArray;
  return `${before ? 'before' : 'at'} commit ${name?.replaceAll(',', ' and ')}`;
}

export interface Raw {
  /** start of the run in ISO 8601; for several runs: the days, separated by commas */
  began: string;
  /**
   * commit of the measured code, or `before COMMIT`; for several runs: the commits, separated by commas;
   * missing: the commit was not recorded
   */
  commit?: string | null;
  machine: { processors: number; model: string; memoryGiB: number; system: string; node: string };
  flags?: { quick?: boolean };
  /** by the name of the part; parts that did not run are missing */
  results: Record<string, unknown> & {
    throughput?: ResultOf<typeof throughput>;
    disk?: ResultOf<typeof disk>;
    reading?: ResultOf<typeof reading>;
    peers?: ClassResult[];
  };
}

type ResultOf<P> = P extends Part<infer R> ? R : never;
