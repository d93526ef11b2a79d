/**
 * The kinds of mistakes: conditions, boundaries of comparisons, arithmetic, operands of logical expressions, removed awaits,
 * calls and returns, removed properties, booleans, numbers, and methods that have an opposite. Texts of messages are left alone.
 *
 * @typedef {{ start: number, end: number, text: string }} Replacement
 */

/** @import { Node } from '@babel/types' */

/** @type {Record<string, string>} */
const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '**': '*',
  '&': '|',
  '|': '&',
  '^': '|',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
};

/** @type {Record<string, string>} */
const ASSIGNMENTS = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=', '??=': '=', '|=': '&=', '&=': '|=' };

/** @type {Record<string, string>} */
const METHODS = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor',
  trunc: 'ceil',
  push: 'unshift',
  unshift: 'push',
  shift: 'pop',
  pop: 'shift',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  all: 'race',
  allSettled: 'race',
};

/** Calls that can be left out of a chain: `list.sort().at(0)` becomes `list.at(0)`. */
const OPTIONAL_METHODS = new Set(['sort', 'toSorted', 'reverse', 'filter', 'slice', 'subarray', 'trim']);

/** Logging and process data are not behavior that tests must check. */
const SILENT = /(^|\.)(logger|log|console)\??\.|^(process|import)\.\w+$/;

/**
 * @param {Node} node
 * @param {Node[]} ancestors nearest first
 * @param {string} source
 * @returns {Replacement[]}
 */
export function replacementsOf(node, ancestors, source) {
  if (ancestors.some((ancestor) => isSilentCall(ancestor, source))) return [];
  const replace = REPLACERS[node.type];
  return replace ? replace(node, { parent: /** @type {Node} */ (ancestors[0]), source }) : [];
}

/** @type {Record<string, (node: any, context: { parent: Node, source: string }) => Replacement[]>} */
const REPLACERS = {
  IfStatement: ({ test }) => forCondition(test),
  ConditionalExpression: ({ test }) => forCondition(test),
  WhileStatement: ({ test }) => [whole(test, 'false')].filter(() => test.type !== 'BooleanLiteral'),
  ForStatement: ({ test }) => (test ? [whole(test, 'false')] : []),
  BinaryExpression: forBinary,
  LogicalExpression: ({ left, right, operator, start, end }, { source }) => [
    { start, end, text: textOf(left, source) },
    ...(operator === '??' ? [] : [{ start, end, text: textOf(right, source) }]),
  ],
  AssignmentExpression: ({ left, right, operator }, { source }) =>
    forOperator(left, right, operator, ASSIGNMENTS[operator], source),
  UpdateExpression: (node, { source }) => {
    const text = source.slice(node.start, node.end);
    return [whole(node, text.replace(node.operator, node.operator === '++' ? '--' : '++'))];
  },
  UnaryExpression: (node, { parent, source }) => {
    const { operator, argument } = node;
    const isSign = operator === '-' && argument.type !== 'NumericLiteral';
    return isSign || (operator === '!' && !isCondition(node, parent))
      ? [whole(node, textOf(argument, source))]
      : [];
  },
  AwaitExpression: ({ argument, start, end }, { source }) => [{ start, end, text: textOf(argument, source) }],
  BooleanLiteral: (node) => [whole(node, String(!node.value))],
  NumericLiteral: (node, { parent }) =>
    isKey(node, parent) ? [] : [whole(node, String(otherNumber(node.value)))],
  BigIntLiteral: (node) => [whole(node, `${BigInt(node.value) + 1n}n`)],
  ExpressionStatement: (node, { source }) =>
    isCall(node.expression) && !isSilentCall(node.expression, source) ? [whole(node, ';')] : [],
  ReturnStatement: (node, { parent }) => (isEarly(node, parent) ? [whole(node, ';')] : []),
  BreakStatement: (node, { parent }) => (isEarly(node, parent) ? [whole(node, ';')] : []),
  ContinueStatement: (node, { parent }) => (isEarly(node, parent) ? [whole(node, ';')] : []),
  CallExpression: forCall,
  OptionalCallExpression: forCall,
  ObjectExpression: ({ properties }, { source }) =>
    properties
      .filter((/** @type {Node} */ { type }) => type !== 'ObjectMethod')
      .map((/** @type {Node} */ property) => removed(property, source)),
};

/** A test need not notice a small change of a large number. @param {number} value */
const otherNumber = (value) => (value <= 16 ? value + 1 : value * 2);

/** @param {any} test @returns {Replacement[]} */
function forCondition(test) {
  if (test.type === 'BooleanLiteral') return [];
  // A test that notices a missing operand notices this mistake as well.
  const implied = test.type === 'LogicalExpression' ? (test.operator === '&&' ? 'true' : 'false') : '';
  return ['true', 'false'].filter((text) => text !== implied).map((text) => whole(test, text));
}

/** A condition becomes true and false, which tests more than its negation. @param {any} node @param {any} parent */
const isCondition = (node, parent) => parent.test === node;

/** @param {any} node @param {{ parent: Node, source: string }} context @returns {Replacement[]} */
function forBinary(node, { parent, source }) {
  const { left, right, operator } = node;
  if (/^[!=]==$/.test(operator) && isCondition(node, parent)) return [];
  // The operator `+` also joins texts.
  if (operator === '+' && [left, right].some(isText)) return [];
  return forOperator(left, right, operator, OPERATORS[operator], source);
}

/**
 * @param {any} left
 * @param {any} right
 * @param {string} operator
 * @param {string | undefined} replacement
 * @param {string} source
 * @returns {Replacement[]}
 */
function forOperator(left, right, operator, replacement, source) {
  if (!replacement) return [];
  // A bracket may be between the operand and the operator.
  const start = left.end + source.slice(left.end, right.start).indexOf(operator);
  return [{ start, end: start + operator.length, text: replacement }];
}

/** @param {any} node @param {{ source: string }} context @returns {Replacement[]} */
function forCall({ callee, end, start }, { source }) {
  if (!/^(Optional)?MemberExpression$/.test(callee.type) || callee.computed) return [];
  const { name } = callee.property;
  const opposite = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  return [
    ...(opposite ? [whole(callee.property, opposite)] : []),
    ...(OPTIONAL_METHODS.has(name) ? [{ start, end, text: textOf(callee.object, source) }] : []),
  ];
}

/** Removes an element of a list with the comma after it. @param {any} node @param {string} source @returns {Replacement} */
function removed({ start, end }, source) {
  const comma = /^\s*,\s*/.exec(source.slice(end));
  return { start, end: end + (comma?.[0].length ?? 0), text: '' };
}

/** @param {any} node @param {string} text @returns {Replacement} */
const whole = ({ start, end }, text) => ({ start, end, text });

/** Adds brackets, because the surrounding expression may bind more tightly. @param {any} node @param {string} source */
function textOf(node, source) {
  const text = source.slice(node.start, node.end);
  return /^(Identifier|(Optional)?(Member|Call)Expression|\w*Literal)$/.test(node.type) ? text : `(${text})`;
}

/** @param {any} node */
const isText = ({ type }) => type === 'StringLiteral' || type === 'TemplateLiteral';

/** @param {any} node @returns {boolean} */
const isCall = ({ type, argument }) =>
  /^(Optional)?CallExpression$/.test(type) || (type === 'AwaitExpression' && isCall(argument));

/** @param {any} node @param {string} source */
function isSilentCall(node, source) {
  return (
    /^(Optional)?CallExpression$/.test(node.type) &&
    SILENT.test(source.slice(node.callee.start, node.callee.end))
  );
}

/** @param {Node} node @param {any} parent */
const isKey = (node, parent) => parent.type === 'ObjectProperty' && parent.key === node;

/** Whether its block has other statements. Otherwise the condition of the block covers it. @param {Node} node @param {any} parent */
const isEarly = (node, parent) => {
  const block = parent.body ?? parent.consequent;
  return (
    Array.isArray(block) && block.length > 1 && !(parent.type === 'Program') && isConditional(node, block)
  );
};

/** @param {any} node @param {any[]} block */
const isConditional = (node, block) =>
  node.type !== 'ReturnStatement' || !node.argument || block.at(-1) !== node;
