/** A value in a statement: a bind marker, or a literal. */
export type Term = { bind: number } | { literal: string | number | null };

type Relation = { columns: string[]; operator: string; terms: Term[] };

export type Selector = { kind: 'column' | 'writetime' | 'count' | 'now'; column: string; name: string };

/** A parsed statement. `conditions` belong to a lightweight transaction, and `exists` to one that asks whether the row exists. */
export interface Statement {
  kind: 'insert' | 'update' | 'delete' | 'select' | 'truncate';
  table: string;
  /** written values, with the key of an insertion; `adds`: added to a collection */
  values: Array<{ column: string; term: Term; adds?: boolean }>;
  /** deleted columns; empty: the whole row. `element`: of a collection */
  columns: Array<{ column: string; element: Term | null }>;
  /** null: all columns */
  selectors: Selector[] | null;
  where: Relation[];
  stamp: Term | null;
  /** seconds */
  ttl: Term | null;
  limit: Term | null;
  conditions: Array<{ column: string; term: Term }> | null;
  /** condition of a lightweight transaction */
  exists: boolean | null;
}

const TOKEN = /\s*('(?:[^']|'')*'|[A-Za-z_][\w.]*|-?\d+|>=|<=|[(),?=<>*+[\]])/y;

/**
 * Parses the statements of `api/store`. It knows only the CQL that they use.
 * @throws {RangeError} for anything else
 */
export function parse(cql: string): Statement {
  const tokens = createTokens(cql);
  const kind = tokens.word();
  const statement: Statement = {
    kind: kind.toLowerCase() as Statement['kind'],
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

function readInsert(tokens: Tokens, statement: Statement) {
  tokens.expect('INTO');
  statement.table = tokens.word();
  const columns = tokens.list(tokens.word);
  tokens.expect('VALUES');
  const terms = tokens.list(tokens.term);
  statement.values = columns.map((column, i) => ({ column, term: terms[i] as Term }));
  if (tokens.take('IF')) {
    tokens.expect('NOT');
    tokens.expect('EXISTS');
    statement.exists = false;
  }
  readUsing(tokens, statement);
}

function readUpdate(tokens: Tokens, statement: Statement) {
  statement.table = tokens.word();
  readUsing(tokens, statement);
  tokens.expect('SET');
  do {
    statement.values.push(readAssignment(tokens));
  } while (tokens.take(','));
  readWhere(tokens, statement);
  readConditions(tokens, statement);
}

function readDelete(tokens: Tokens, statement: Statement) {
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

function readSelect(tokens: Tokens, statement: Statement) {
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

function readSelector(tokens: Tokens): Selector {
  const column = tokens.word();
  if (!tokens.take('(')) return { kind: 'column', column, name: column };
  const argument = tokens.peek() === ')' ? '' : tokens.word();
  tokens.expect(')');
  tokens.expect('AS');
  const kind = column.toLowerCase() as Selector['kind'];
  return { kind, column: argument, name: tokens.word() };
}

function readUsing(tokens: Tokens, statement: Statement) {
  if (!tokens.take('USING')) return;
  do {
    if (tokens.take('TTL')) statement.ttl = tokens.term();
    else {
      tokens.expect('TIMESTAMP');
      statement.stamp = tokens.term();
    }
  } while (tokens.take('AND'));
}

function readWhere(tokens: Tokens, statement: Statement) {
  tokens.expect('WHERE');
  do {
    const isTuple = tokens.peek() === '(';
    const columns = isTuple ? tokens.list(tokens.word) : [tokens.word()];
    const operator = tokens.next();
    const terms = isTuple ? tokens.list(tokens.term) : [tokens.term()];
    statement.where.push({ columns, operator, terms });
  } while (tokens.take('AND'));
}

function readConditions(tokens: Tokens, statement: Statement) {
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

function readAssignment(tokens: Tokens) {
  const column = tokens.word();
  tokens.expect('=');
  const adds = tokens.take(column);
  if (adds) tokens.expect('+');
  return { column, term: tokens.term(), adds };
}

function createTokens(cql: string) {
  const tokens: string[] = [];
  const text = cql
    .trim()
    .replace(/;$/, '')
    .replace(/ BYPASS CACHE$/, '');
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) throw new RangeError(`the database in memory does not understand ${cql}`);
    tokens.push(match[1] as string);
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
  const take = (token: string) => {
    if (tokens[index] !== token) return false;
    index++;
    return true;
  };
  const expect = (token: string) => {
    if (!take(token)) throw error();
  };
  const word = () => {
    if (!/^[A-Za-z_]/.test(peek() ?? '')) throw error();
    return next();
  };
  const term = (): Term => {
    const token = next();
    if (token === '?') return { bind: binds++ };
    if (token === 'null') return { literal: null };
    if (token.startsWith("'")) return { literal: token.slice(1, -1).replaceAll("''", "'") };
    if (/^-?\d+$/.test(token)) return { literal: Number(token) };
    throw error();
  };
  /** @returns in parentheses */
  const list = <T>(read: () => T): T[] => {
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

type Tokens = ReturnType<typeof createTokens>;
