/**
 * A value in a statement: a bind marker, or a literal.
 *
 * @typedef {{ bind: number } | { literal: string | number | null }} Term
 */

/** Columns that are compared together, as a tuple. @typedef {{ columns: string[], operator: string, terms: Term[] }} Relation */

/** A selected column or function of a query. @typedef {{ kind: 'column' | 'writetime' | 'count' | 'now', column: string, name: string }} Selector */

/**
 * A parsed statement. `conditions` belong to a lightweight transaction, and `exists` to one that asks whether the row exists.
 *
 * @typedef {object} Statement
 * @property {'insert' | 'update' | 'delete' | 'select' | 'truncate'} kind
 * @property {string} table
 * @property {Array<{ column: string, term: Term, adds?: boolean }>} values written values, with the key of an insertion; `adds`: added to a collection
 * @property {Array<{ column: string, element: Term | null }>} columns deleted columns; empty: the whole row. `element`: of a collection
 * @property {Selector[] | null} selectors null: all columns
 * @property {Relation[]} where
 * @property {Term | null} stamp
 * @property {Term | null} ttl seconds
 * @property {Term | null} limit
 * @property {Array<{ column: string, term: Term }> | null} conditions
 * @property {boolean | null} exists condition of a lightweight transaction
 */

const TOKEN = /\s*('(?:[^']|'')*'|[A-Za-z_][\w.]*|-?\d+|>=|<=|[(),?=<>*+[\]])/y;

/**
 * Parses the statements of `api/store`. It knows only the CQL that they use.
 *
 * @param {string} cql
 * @returns {Statement}
 * @throws {RangeError} for anything else
 */
export function parse(cql) {
  const tokens = createTokens(cql);
  const kind = tokens.word();
  /** @type {Statement} */
  const statement = {
    kind: /** @type {Statement['kind']} */ (kind.toLowerCase()),
    table: '',
    values: [],
    columns: [],
    selectors: null,
    where: [],
    stamp: null,
    ttl: null,
    limit: null,
    conditions: null,
    exists: null,
  };
  const read = { INSERT: readInsert, UPDATE: readUpdate, DELETE: readDelete, SELECT: readSelect }[kind];
  if (read) read(tokens, statement);
  else if (kind === 'TRUNCATE') statement.table = tokens.word();
  else throw tokens.error();
  if (!tokens.isAtEnd()) throw tokens.error();
  return statement;
}

/** @param {Tokens} tokens @param {Statement} statement */
function readInsert(tokens, statement) {
  tokens.expect('INTO');
  statement.table = tokens.word();
  const columns = tokens.list(tokens.word);
  tokens.expect('VALUES');
  const terms = tokens.list(tokens.term);
  statement.values = columns.map((column, i) => ({ column, term: /** @type {Term} */ (terms[i]) }));
  if (tokens.take('IF')) {
    tokens.expect('NOT');
    tokens.expect('EXISTS');
    statement.exists = false;
  }
  readUsing(tokens, statement);
}

/** @param {Tokens} tokens @param {Statement} statement */
function readUpdate(tokens, statement) {
  statement.table = tokens.word();
  readUsing(tokens, statement);
  tokens.expect('SET');
  do {
    statement.values.push(readAssignment(tokens));
  } while (tokens.take(','));
  readWhere(tokens, statement);
  readConditions(tokens, statement);
}

/** @param {Tokens} tokens @param {Statement} statement */
function readDelete(tokens, statement) {
  while (!tokens.take('FROM')) {
    const column = tokens.word();
    const element = tokens.take('[') ? tokens.term() : null;
    if (element) tokens.expect(']');
    statement.columns.push({ column, element });
    tokens.take(',');
  }
  statement.table = tokens.word();
  readUsing(tokens, statement);
  readWhere(tokens, statement);
  readConditions(tokens, statement);
}

/** @param {Tokens} tokens @param {Statement} statement */
function readSelect(tokens, statement) {
  if (!tokens.take('*')) {
    statement.selectors = [];
    do {
      statement.selectors.push(readSelector(tokens));
    } while (tokens.take(','));
  }
  tokens.expect('FROM');
  statement.table = tokens.word();
  if (tokens.peek() === 'WHERE') readWhere(tokens, statement);
  if (tokens.take('LIMIT')) statement.limit = tokens.term();
}

/** @param {Tokens} tokens @returns {Selector} */
function readSelector(tokens) {
  const column = tokens.word();
  if (!tokens.take('(')) return { kind: 'column', column, name: column };
  const argument = tokens.peek() === ')' ? '' : tokens.word();
  tokens.expect(')');
  tokens.expect('AS');
  const kind = /** @type {Selector['kind']} */ (column.toLowerCase());
  return { kind, column: argument, name: tokens.word() };
}

/** @param {Tokens} tokens @param {Statement} statement */
function readUsing(tokens, statement) {
  if (!tokens.take('USING')) return;
  do {
    if (tokens.take('TTL')) statement.ttl = tokens.term();
    else {
      tokens.expect('TIMESTAMP');
      statement.stamp = tokens.term();
    }
  } while (tokens.take('AND'));
}

/** @param {Tokens} tokens @param {Statement} statement */
function readWhere(tokens, statement) {
  tokens.expect('WHERE');
  do {
    const isTuple = tokens.peek() === '(';
    const columns = isTuple ? tokens.list(tokens.word) : [tokens.word()];
    const operator = tokens.next();
    const terms = isTuple ? tokens.list(tokens.term) : [tokens.term()];
    statement.where.push({ columns, operator, terms });
  } while (tokens.take('AND'));
}

/** @param {Tokens} tokens @param {Statement} statement */
function readConditions(tokens, statement) {
  if (!tokens.take('IF')) return;
  if (tokens.take('EXISTS')) {
    statement.exists = true;
    return;
  }
  statement.conditions = [];
  do {
    statement.conditions.push(readAssignment(tokens));
  } while (tokens.take('AND'));
}

/** @param {Tokens} tokens */
function readAssignment(tokens) {
  const column = tokens.word();
  tokens.expect('=');
  const adds = tokens.take(column);
  if (adds) tokens.expect('+');
  return { column, term: tokens.term(), adds };
}

/** @param {string} cql */
function createTokens(cql) {
  /** @type {string[]} */
  const tokens = [];
  const text = cql
    .trim()
    .replace(/;$/, '')
    .replace(/ BYPASS CACHE$/, '');
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) throw new RangeError(`the database in memory does not understand ${cql}`);
    tokens.push(/** @type {string} */ (match[1]));
  }
  let index = 0;
  let binds = 0;

  const error = () =>
    new RangeError(`the database in memory does not understand ${cql}, at ${tokens[index]}`);
  const peek = () => tokens[index];
  const next = () => {
    const token = tokens[index++];
    if (token === undefined) throw error();
    return token;
  };
  const take = (/** @type {string} */ token) => {
    if (tokens[index] !== token) return false;
    index++;
    return true;
  };
  const expect = (/** @type {string} */ token) => {
    if (!take(token)) throw error();
  };
  const word = () => {
    if (!/^[A-Za-z_]/.test(peek() ?? '')) throw error();
    return next();
  };
  /** @returns {Term} */
  const term = () => {
    const token = next();
    if (token === '?') return { bind: binds++ };
    if (token === 'null') return { literal: null };
    if (token.startsWith("'")) return { literal: token.slice(1, -1).replaceAll("''", "'") };
    if (/^-?\d+$/.test(token)) return { literal: Number(token) };
    throw error();
  };
  /** @template T @param {() => T} read @returns {T[]} in parentheses */
  const list = (read) => {
    expect('(');
    const items = [];
    do {
      items.push(read());
    } while (take(','));
    expect(')');
    return items;
  };
  return { error, peek, next, take, expect, word, term, list, isAtEnd: () => index === tokens.length };
}

/** @typedef {ReturnType<typeof createTokens>} Tokens */
