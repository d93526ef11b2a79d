export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

/** Excel marks the delimiter with this line. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?\s*$/i;

/** RFC 4180. White space around a cell is removed, but not within quotes. Null: a quote is not closed, or text follows it. */
export function parseCells(text: string, delimiter: string): string[] | null {
  if (!text.includes('"')) return text.split(delimiter).map((cell) => cell.trim());
  const cells = [];
  let from = 0;
  while (from <= text.length) {
    let start = from;
    while (start < text.length && text[start] !== delimiter && isBlank(text[start])) start++;
    if (text[start] !== '"') {
      const end = endOf(text, delimiter, from);
      const cell = text.slice(from, end).trim();
      if (cell.includes('"')) return null;
      cells.push(cell);
      from = end + 1;
      continue;
    }
    let end = text.indexOf('"', start + 1);
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end < 0) return null;
    cells.push(text.slice(start + 1, end).replaceAll('""', '"'));
    const next = endOf(text, delimiter, end + 1);
    if (text.slice(end + 1, next).trim() !== '') return null;
    from = next + 1;
  }
  return cells;
}

const isBlank = (char: string | undefined) => char !== undefined && char.trim() === '';

function endOf(text: string, delimiter: string, from: number) {
  const end = text.indexOf(delimiter, from);
  return end < 0 ? text.length : end;
}

/** Excel declares the delimiter in the first line of a file. */
export const declaredDelimiter = (line: string): string | null => SEPARATOR_LINE.exec(line)?.[1] ?? null;

export function delimiterOf(line: string): string {
  const delimiters = Object.values(DELIMITERS);
  const counts = delimiters.map((delimiter) => parseCells(line, delimiter)?.length ?? 0);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** For lines before the names of columns. `#` alone may be the name of a column. */
export const isComment = (line: string): boolean => /^#(?![,;\t|"]|$)/.test(line);

// cspell:ignore mkµu mckµu
/** A name may end with these units without brackets. */
const UNIT =
  /^(?:°[CF]|℃|℉|K|%|‰|%\s?r\.?[FH]\.?|%RH|[hkM]?Pa|m?bar|psi|[mkµu]?V|[mµu]?A|[mkM]?W|[kM]?Wh|VA|Hz|kHz|MHz|[mckµu]?m|in|ft|m\/s|km\/h|mph|[lL]\/(?:s|min|h)|m[3³]\/[sh]|pp[mb]|l(?:x|ux)|dBm?|[mkµu]?g|m?s|min|h|rpm|1\/min|U\/min|k?Ω|[uµm]S\/cm|mg\/[lL]|µg\/m[3³]|g\/m[3³]|pH|W\/m[2²]|[lL]|m[23²³]|Cel|V\/m|N|kN|Nm|J|kJ|cd|T|mT|°|deg)$/;

/** Units that end no other name: `Phase A` and `Temp min` have none. */
const CLEAR_UNIT = /[^a-z]|^(?:[hkM]Pa|mbar|[kM]?Wh|kW|pp[mb]|rpm)$/i;

/** Recognizes `Temp [°C]`, `Temp (°C)`, `Temp in °C`, `Temp °C` and `Temp, °C (LGR S/N: 1)`. */
export function splitUnit(name: string): { name: string; unit: string | null } {
  const brackets = /^(.*\S)\s*\[\s*([^[\]]+?)\s*\]$/.exec(name);
  if (brackets) return { name: String(brackets[1]), unit: String(brackets[2]) };
  const others = [
    /^(.*\S)\s*\(\s*([^()]+?)\s*\)$/,
    /^(.*\S)\s*,\s*([^,()\s]+)(?:\s*\(.*\))?$/,
    /^(.*\S)\s+(?:in|\/)\s+(\S+)$/,
  ];
  for (const pattern of others) {
    const match = pattern.exec(name);
    if (match && UNIT.test(String(match[2]))) return { name: String(match[1]), unit: String(match[2]) };
  }
  const last = /^(.*\S)\s+(\S+)$/.exec(name);
  if (last && UNIT.test(String(last[2])) && CLEAR_UNIT.test(String(last[2])))
    return { name: String(last[1]), unit: String(last[2]) };
  return { name, unit: null };
}

export const isUnit = (text: string): boolean => UNIT.test(text.replace(/^[[(]\s*|\s*[\])]$/g, ''));
