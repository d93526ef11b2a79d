import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WEB = fileURLToPath(new URL('../../web/', import.meta.url));

export const STRUCTURE_FILE = new URL('../../docs/images/structure.json', import.meta.url);

/** The files and folders of `web` that each picture shows. Each picture also has header and navigation. */
const SHOWN = {
  fleet: ['views/fleet', 'wall', 'kit/figure.tsx', 'kit/sensor-table.tsx'],
  pipeline: ['views/pipeline', 'kit/figure.tsx'],
  sensor: ['views/sensor', 'chart', 'kit/device-title.tsx'],
};
const FRAME = ['app.tsx', 'kit/header.tsx', 'kit/navigation.tsx'];

/** Elements with their first classes, and texts of headings, columns and controls. Styles, logic and data are no structure. */
const ELEMENT = /<([a-z][a-z0-9]*|Table)\s[^>]*?class="([^"]+)"/g;
const TEXT = /<(h[1-6]|th|label|button|legend|summary|a|dt)\b[^>]*>\s*([^<{}\s][^<{}]*?)\s*</g;

/** A column of a table, or another thing with a label: its label and class. */
const LABEL = /\blabel: '([^']+)'(?:,\s*class: '([^']+)')?/g;

export function structureOf(source: string): string[] {
  const elements = [...source.matchAll(ELEMENT)].map(([, tag, name]) => `${tag}.${name}`);
  const texts = [...source.matchAll(TEXT)].map(([, tag, text]) => `${tag}: ${text?.replace(/\s+/g, ' ')}`);
  const labels = [...source.matchAll(LABEL)].map(
    ([, text, name]) => `label${name ? `.${name}` : ''}: ${text}`,
  );
  return [...elements, ...texts, ...labels];
}

async function componentsIn(path: string): Promise<string[]> {
  if (path.endsWith('.tsx')) return [path];
  const names = await readdir(join(WEB, path));
  return names.filter((name) => name.endsWith('.tsx')).map((name) => join(path, name));
}

/** @returns by picture, sorted */
export async function readStructure(): Promise<Record<string, string[]>> {
  const structure: Record<string, string[]> = {};
  for (const [picture, paths] of Object.entries({ frame: FRAME, ...SHOWN })) {
    const files = (await Promise.all(paths.map(componentsIn))).flat();
    const sources = await Promise.all(files.map((file) => readFile(join(WEB, file), 'utf8')));
    structure[picture] = [...new Set(sources.flatMap(structureOf))].sort();
  }
  return structure;
}
