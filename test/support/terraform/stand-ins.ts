import { thingsIn } from './modules.js';

/** @import { Thing } from './modules.js' */

/**
 * Replaces the resources of a module whose provider is not available. Each becomes a `terraform_data`, which is part of Terraform,
 * with the computed arguments as its input. So Terraform itself evaluates every expression, and plans what would be added, changed
 * and destroyed. Attributes that only a provider knows are given as `answers`.
 *
 * @typedef {Record<string, Record<string, unknown>>} Answers attributes that are read, by type: `{ 'data.aws_x': { json: '{}' } }`
 */

const META = ['for_each', 'depends_on'];

/**
 * @param {Record<string, any>} read its files, as `readHcl` returns them
 * @param {Answers} answers
 * @returns {Record<string, any>} the module in Terraform's JSON
 */
export function withStandIns(read, answers) {
  const blocks = (/** @type {string} */ kind) => Object.values(read).flatMap((file) => file[kind] ?? []);
  const things = [...thingsIn(blocks('resource'), ''), ...thingsIn(blocks('data'), 'data.')];
  const addresses = new Set(things.map(({ address }) => address));
  const replaced = things.map((thing) => [nameOf(thing.address), standIn(thing, { addresses, answers })]);
  const named = (/** @type {string} */ kind) => translated(Object.assign({}, ...blocks(kind)), addresses);
  return {
    variable: Object.fromEntries(
      Object.entries(named('variable')).map(([name, body]) => [name, typed(body)]),
    ),
    locals: named('locals'),
    // An empty object would count as a module without a name.
    ...(blocks('module').length > 0 && { module: named('module') }),
    output: named('output'),
    resource: { terraform_data: Object.fromEntries(replaced) },
  };
}

/** @param {string} address */
const nameOf = (address) => address.replaceAll('.', '__');

/** @param {Thing} thing @param {{ addresses: Set<string>, answers: Answers }} context */
function standIn({ type, address, body }, { addresses, answers }) {
  const { lifecycle, ...all } = translated(body, addresses);
  const meta = Object.entries(all).filter(([name]) => META.includes(name));
  const input = Object.fromEntries(Object.entries(all).filter(([name]) => !META.includes(name)));
  // With for_each, each instance has its own id, by its key.
  const id = 'for_each' in all ? `${address} $\{each.key}` : address;
  const read = { id, arn: `arn:${address}`, ...answers[type] };
  return {
    ...Object.fromEntries(
      meta.map(([name, value]) => [name, name === 'depends_on' ? value.map(bare) : value]),
    ),
    input: { ...input, ...read },
  };
}

/** In JSON a type must be an expression, not a string. @param {Record<string, any>} body */
const typed = (body) => ({ ...body, type: bare(body['type']) });

/** @param {string} expression @returns {string} without `${}` around it */
const bare = (expression) => expression.replace(/^\$\{([\s\S]*)\}$/, '$1');

/** @param {any} value @param {Set<string>} addresses @returns {any} */
function translated(value, addresses) {
  if (typeof value === 'string') return expression(value, addresses);
  if (Array.isArray(value)) return value.map((item) => translated(item, addresses));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([name]) => name !== '__is_block__');
  return Object.fromEntries(
    entries.map(([name, item]) => [expression(name, addresses), translated(item, addresses)]),
  );
}

const REFERENCE = /(?<![\w."-])(?:data\.)?[a-z]+_\w+\.\w+/;

/**
 * Translates references: `aws_x.y[i].id` becomes `terraform_data.aws_x__y[i].output.id`.
 *
 * @param {string} text @param {Set<string>} addresses @returns {string}
 */
function expression(text, addresses) {
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

/** @param {string} text begins with a bracket @returns {number} the index of its closing bracket */
function closing(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '[') depth += 1;
    if (text[i] === ']') depth -= 1;
    if (depth === 0) return i;
  }
  throw new Error(`A bracket is not closed: ${text}`);
}
