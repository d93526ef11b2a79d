import type { Json } from '../json.ts';

/** A resource or a data source: `type` is such as `aws_vpc` or `data.aws_vpc`, `address` is as in references. */
export type Thing = { type: string; name: string; address: string; body: Record<string, Json> };

/**
 * Replaces the resources of a module whose provider is not available. Each becomes a `terraform_data`, which is part of Terraform,
 * with the computed arguments as its input. So Terraform itself evaluates every expression, and plans what would be added, changed
 * and destroyed. Attributes that only a provider knows are given as `answers`.
 * attributes that are read, by type: `{ 'data.aws_x': { json: '{}' } }`
 */
export type Answers = Record<string, Record<string, unknown>>;

const META = ['for_each', 'depends_on'];

/** @param read its files, as `readHcl` returns them @returns the module in Terraform's JSON */
export function withStandIns(read: Record<string, Json>, answers: Answers): Record<string, Json> {
  const blocks = blocksOf(read);
  const things = thingsOf(read);
  const addresses = new Set(things.map(({ address }) => address));
  const replaced = things.map((thing) => [nameOf(thing.address), standIn(thing, { addresses, answers })]);
  const named = (kind: string) => translated(Object.assign({}, ...blocks(kind)), addresses);
  return {
    variable: Object.fromEntries(
      Object.entries<Record<string, string>>(named('variable')).map(([name, body]) => [name, typed(body)]),
    ),
    locals: named('locals'),
    output: named('output'),
    resource: { terraform_data: Object.fromEntries(replaced) },
  };
}

const blocksOf = (read: Record<string, Json>) => (kind: string) =>
  Object.values(read).flatMap((file) => file[kind] ?? []);

/** @param read files, as `readHcl` returns them @returns their resources and data sources */
export const thingsOf = (read: Record<string, Json>): Thing[] =>
  (['resource', 'data'] as const).flatMap((kind) =>
    blocksOf(read)(kind).flatMap((block: Record<string, Record<string, Thing['body']>>) =>
      Object.entries(block).flatMap(([plain, named]) => {
        const type = kind === 'data' ? `data.${plain}` : plain;
        return Object.entries(named).map(([name, body]) => ({
          type,
          name,
          address: `${type}.${name}`,
          body,
        }));
      }),
    ),
  );

const nameOf = (address: string) => address.replaceAll('.', '__');

function standIn(
  { type, address, body }: Thing,
  { addresses, answers }: { addresses: Set<string>; answers: Answers },
) {
  const { lifecycle, ...all } = translated(body, addresses);
  const meta = Object.entries(all).filter(([name]) => META.includes(name));
  const input = Object.fromEntries(Object.entries(all).filter(([name]) => !META.includes(name)));
  // With for_each, each instance has its own id, by its key.
  const id = 'for_each' in all ? `${address} $\{each.key}` : address;
  const read = { id, arn: `arn:${address}`, ...answers[type] };
  return {
    ...Object.fromEntries(
      meta.map(([name, value]) => [name, Array.isArray(value) ? value.map(bare) : value]),
    ),
    input: { ...input, ...read },
  };
}

/** In JSON a type must be an expression, not a string. */
const typed = (body: Record<string, string>) => ({ ...body, type: bare(String(body['type'])) });

/** @returns without `${}` around it */
const bare = (expression: string): string => expression.replace(/^\$\{([\s\S]*)\}$/, '$1');

function translated(value: Json, addresses: Set<string>): Json {
  if (typeof value === 'string') return expression(value, addresses);
  if (Array.isArray(value)) return value.map((item) => translated(item, addresses));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([name]) => name !== '__is_block__');
  return Object.fromEntries(
    entries.map(([name, item]) => [expression(name, addresses), translated(item, addresses)]),
  );
}

const REFERENCE = /(?<![\w."-])(?:data\.)?[a-z]+_\w+\.\w+/;

/** Translates references: `aws_x.y[i].id` becomes `terraform_data.aws_x__y[i].output.id`. */
function expression(text: string, addresses: Set<string>): string {
  const found = REFERENCE.exec(text);
  if (!found) return text;
  const [address] = found;
  const before = text.slice(0, found.index);
  let after = text.slice(found.index + address.length);
  if (!addresses.has(address)) return before + address + expression(after, addresses);
  let index = '';
  if (after.startsWith('[')) {
    const end = closing(after);
    index = `[${expression(after.slice(1, end), addresses)}]`;
    after = after.slice(end + 1);
  }
  const output = /^\.\w/.test(after) ? '.output' : '';
  return `${before}terraform_data.${nameOf(address)}${index}${output}${expression(after, addresses)}`;
}

/** @param text begins with a bracket @returns the index of its closing bracket */
function closing(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '[') depth += 1;
    if (text[i] === ']') depth -= 1;
    if (depth === 0) return i;
  }
  throw new Error(`A bracket is not closed: ${text}`);
}
