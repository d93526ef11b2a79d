/** Characters that may separate the cells of a CSV file, by the value of the option `delimiter`. */
export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

/** Matches the line with which Excel marks the delimiter. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?\s*$/i;

/**
 * Splits a line of CSV into cells (RFC 4180). White space around a cell is removed, but not within quotes.
 * @returns null: a quote is not closed, or text follows it
 */
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

/** @param line the first line of a file @returns the delimiter that it declares, as Excel does */
export const declaredDelimiter = (line: string): string | null => SEPARATOR_LINE.exec(line)?.[1] ?? null;

/** @returns the most frequent delimiter of a line */
export function delimiterOf(line: string): string {
  const delimiters = Object.values(DELIMITERS);
  const counts = delimiters.map((delimiter) => parseCells(line, delimiter)?.length ?? 0);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** @param line a line before the names of columns @returns whether it is a comment; `#` alone may be the name of a column */
export const isComment = (line: string): boolean => /^#(?![,;\t|"]|$)/.test(line);

// cspell:ignore mkµu mckµu
/** Units that a name may end with, without brackets. */
const UNIT =
  /^(?:°[CF]|℃|℉|K|%|‰|%\s?r\.?[FH]\.?|%RH|[hkM]?Pa|m?bar|psi|[mkµu]?V|[mµu]?A|[mkM]?W|[kM]?Wh|VA|Hz|kHz|MHz|[mckµu]?m|in|ft|m\/s|km\/h|mph|[lL]\/(?:s|min|h)|m[3³]\/[sh]|pp[mb]|l(?:x|ux)|dBm?|[mkµu]?g|m?s|min|h|rpm|1\/min|U\/min|k?Ω|[uµm]S\/cm|mg\/[lL]|µg\/m[3³]|g\/m[3³]|pH|W\/m[2²]|[lL]|m[23²³]|Cel|V\/m|N|kN|Nm|J|kJ|cd|T|mT|°|deg)$/;

/**
 * Divides a name of a column into the name of a sensor and its unit: `Temp [°C]`, `Temp (°C)`, `Temp in °C`, `Temp, °C (LGR S/N: 1)`.
 */
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
  return { name, unit: null };
}

/** @returns whether the text is a usual unit */
export const isUnit = (text: string): boolean => UNIT.test(text.replace(/^[[(]\s*|\s*[\])]$/g, ''));
