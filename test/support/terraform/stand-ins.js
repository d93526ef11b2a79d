/**
 * A module whose provider cannot be had, with stand-ins for its resources: each becomes a `terraform_data`, which Terraform has
 * built in, and which holds the arguments as they came out. So Terraform itself computes every expression, and plans what would
 * be added, changed and destroyed; what a provider alone knows is given as `answers`.
 *
 * @typedef {Record<string, Record<string, unknown>>} Answers attributes that are read, by type: `{ 'data.aws_x': { json: '{}' } }`
 */

const META = ['for_each', 'depends_on'];

/**
 * @param {Record<string, any>} read its files as `readHcl` gives them
 * @param {Answers} answers
 * @returns {Record<string, any>} the module in Terraform's JSON
 */
export function withStandIns(read, answers) {
  const blocks = (/** @type {string} */ kind) => Object.values(read).flatMap((file) => file[kind] ?? []);
  const things = [
    ...blocks('resource').flatMap((block) => thingsIn(block, '')),
    ...blocks('data').flatMap((block) => thingsIn(block, 'data.')),
  ];
  const addresses = new Set(things.map(({ address }) => address));
  const stand = things.map((thing) => [nameOf(thing.address), standIn(thing, { addresses, answers })]);
  const named = (/** @type {string} */ kind) => translated(Object.assign({}, ...blocks(kind)), addresses);
  return {
    variable: Object.fromEntries(
      Object.entries(named('variable')).map(([name, body]) => [name, typed(body)]),
    ),
    locals: named('locals'),
    // Empty, it would be no module of no name.
    ...(blocks('module').length > 0 && { module: named('module') }),
    output: named('output'),
    resource: { terraform_data: Object.fromEntries(stand) },
  };
}

/** @typedef {{ type: string, name: string, address: string, body: Record<string, any> }} Thing */

/** @param {Record<string, any>} block @param {'' | 'data.'} prefix @returns {Thing[]} */
const thingsIn = (block, prefix) =>
  Object.entries(block).flatMap(([type, named]) =>
    Object.entries(/** @type {Record<string, any>} */ (named)).map(([name, body]) => ({
      type: `${prefix}${type}`,
      name,
      address: `${prefix}${type}.${name}`,
      body,
    })),
  );

/** @param {string} address */
const nameOf = (address) => address.replaceAll('.', '__');

/** @param {Thing} thing @param {{ addresses: Set<string>, answers: Answers }} context */
function standIn({ type, address, body }, { addresses, answers }) {
  const { lifecycle, ...all } = translated(body, addresses);
  const meta = Object.entries(all).filter(([name]) => META.includes(name));
  const input = Object.fromEntries(Object.entries(all).filter(([name]) => !META.includes(name)));
  // Of several each has its own, by its key.
  const id = 'for_each' in all ? `${address} $\{each.key}` : address;
  const read = { id, arn: `arn:${address}`, ...answers[type] };
  return {
    ...Object.fromEntries(
      meta.map(([name, value]) => [name, name === 'depends_on' ? value.map(bare) : value]),
    ),
    input: { ...input, ...read },
  };
}

/** A type is an expression, and no text. @param {Record<string, any>} body */
const typed = (body) => ({ ...body, type: bare(body['type']) });

/** @param {string} expression @returns {string} without `${}` around it */
const bare = (expression) => expression.replace(/^\$\{([\s\S]*)\}$/, '$1');

/** @param {any} value @param {Set<string>} addresses @returns {any} */
function translated(value, addresses) {
  if (typeof value === 'string') return expression(value, addresses);
  if (Array.isArray(value)) return value.map((each) => translated(each, addresses));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([name]) => name !== '__is_block__');
  return Object.fromEntries(
    entries.map(([name, each]) => [expression(name, addresses), translated(each, addresses)]),
  );
}

const REFERENCE = /(?<![\w."-])(?:data\.)?[a-z]+_\w+\.\w+/;

/**
 * `aws_x.y[i].id` is `terraform_data.aws_x__y[i].output.id` there.
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

/** @param {string} text begins with a bracket @returns {number} where that is closed */
function closing(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '[') depth += 1;
    if (text[i] === ']') depth -= 1;
    if (depth === 0) return i;
  }
  throw new Error(`A bracket is not closed: ${text}`);
}
