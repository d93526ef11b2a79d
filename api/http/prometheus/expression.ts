import { parser } from '@prometheus-io/lezer-promql';
import { badQuery } from './bad-query.js';
import { durationOf } from './durations.js';
import { createMatcher, PatternBudget, unquote } from './matchers.js';

/** @import { SyntaxNode } from '@lezer/common' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Aggregate } from '../../history/reading/bins.js' */
/** @import { Matcher } from './matchers.js' */

/** The labels of a series. A missing label counts as an empty text. @typedef {Record<string, string>} Labels */

/**
 * The part of PromQL that Millrace answers: a selector, over a window of time, and at most one aggregation of its series.
 *
 * @typedef {object} Expression
 * @property {Matcher[]} matchers
 * @property {Aggregate} aggregate of the samples of a window
 * @property {number | null} windowMs null: the selector has no window of its own
 * @property {boolean} keepsName whether the series keep the label `__name__`
 * @property {{ operator: SeriesOperator, labels: string[] } | null} group null: each series by itself
 */

/** @typedef {'sum' | 'avg' | 'min' | 'max' | 'count'} SeriesOperator */

/** The label that has the name of the metric. */
export const NAME_LABEL = '__name__';

/** @type {Map<string, Aggregate>} */
const WINDOW_FUNCTIONS = new Map(
  /** @type {const} */ (['avg', 'min', 'max', 'sum', 'count', 'first', 'last']).map((aggregate) => [
    `${aggregate}_over_time`,
    aggregate,
  ]),
);

/** Aggregates that keep the label `__name__`, as in Prometheus. @type {Aggregate[]} */
const KEEPS_NAME = ['first', 'last'];

/** @type {readonly string[]} */
const SERIES_OPERATORS = ['sum', 'avg', 'min', 'max', 'count'];

const SUPPORTED = `Millrace supports selectors, the functions ${[...WINDOW_FUNCTIONS.keys()].join(', ')}, and one of the aggregations ${SERIES_OPERATORS.join(', ')} around these, with or without "by".`;

/** Stops at the first syntax error. With its recovery from errors, the parser takes 1.2 s for 8 KB of `x{x{x{`. */
const STRICT = parser.configure({ strict: true });

/** Limit of characters of an expression. A hundred names of devices fit. */
const MAX_EXPRESSION = 16_000;

/** Limit of opening brackets. The parser takes 0.4 s for 3,000 of `sum(`. */
const MAX_BRACKETS = 200;

/** Limit of matchers of a selector. A sensor has six labels. */
const MAX_MATCHERS = 30;

/**
 * Parses an expression.
 *
 * @param {string} text PromQL
 * @param {PatternBudget} [budget] of all expressions of a request
 * @returns {Expression}
 * @throws {MillraceError} `bad_parameter`: the text is not PromQL, or is not supported
 */
export function parseExpression(text, budget = new PatternBudget()) {
  if (text.length > MAX_EXPRESSION) throw badQuery(`an expression has at most ${MAX_EXPRESSION} characters`);
  if (text.split('(').length > MAX_BRACKETS)
    throw badQuery(`an expression has at most ${MAX_BRACKETS} opening brackets`);
  return readExpression(onlyChild(parse(text).topNode), { text, budget });
}

/** @param {string} text @throws {MillraceError} `bad_parameter` */
function parse(text) {
  try {
    return STRICT.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badQuery(`not valid PromQL: ${error.message}`);
  }
}

/**
 * Parses a selector, such as `millrace_value{device="press-1"}`.
 *
 * @param {string} text
 * @param {PatternBudget} [budget] of all selectors of a request
 * @returns {Matcher[]}
 * @throws {MillraceError} `bad_parameter`
 */
export function parseSelector(text, budget) {
  const { matchers, windowMs, keepsName, group } = parseExpression(text, budget);
  if (windowMs !== null || !keepsName || group)
    throw badQuery(
      'match[] must be a selector, such as millrace_value{site="Office"}, without a function or an aggregation',
    );
  return matchers;
}

/** The text of an expression, and what its patterns may take. @typedef {{ text: string, budget: PatternBudget }} Source */

/** @param {SyntaxNode} node @param {Source} source @returns {Expression} */
function readExpression(node, source) {
  const { text } = source;
  if (node.name === 'ParenExpr') return readExpression(onlyChild(node), source);
  if (node.name !== 'AggregateExpr') return { ...readWindow(node, source), group: null };
  const operator = textOf(/** @type {SyntaxNode} */ (node.getChild('AggregateOp')), text).toLowerCase();
  const modifier = node.getChild('AggregateModifier');
  if (!SERIES_OPERATORS.includes(operator) || modifier?.getChild('Without')) throw unsupported(node, text);
  const grouping = modifier?.getChild('GroupingLabels');
  if (grouping?.getChild('QuotedLabelName')) throw unsupported(node, text);
  const labels = grouping?.getChildren('LabelName') ?? [];
  const inner = readWindow(onlyChild(/** @type {SyntaxNode} */ (node.getChild('FunctionCallBody'))), source);
  const group = {
    operator: /** @type {SeriesOperator} */ (operator),
    labels: labels.map((label) => textOf(label, text)),
  };
  return { ...inner, group };
}

/** @param {SyntaxNode} node @param {Source} source @returns {Omit<Expression, 'group'>} */
function readWindow(node, source) {
  const { text } = source;
  if (node.name === 'ParenExpr') return readWindow(onlyChild(node), source);
  if (node.name === 'VectorSelector')
    return { matchers: readMatchers(node, source), aggregate: 'last', windowMs: null, keepsName: true };
  const identifier = node.getChild('FunctionIdentifier');
  const aggregate = identifier && WINDOW_FUNCTIONS.get(textOf(identifier, text));
  if (!aggregate) throw unsupported(node, text);
  const matrix = onlyChild(/** @type {SyntaxNode} */ (node.getChild('FunctionCallBody')));
  const [selector, duration] = ['VectorSelector', 'DurationExpr'].map((name) => matrix.getChild(name));
  if (matrix.name !== 'MatrixSelector' || !selector || !duration) throw unsupported(matrix, text);
  return {
    matchers: readMatchers(selector, source),
    aggregate,
    windowMs: durationOf(textOf(duration, text)),
    keepsName: KEEPS_NAME.includes(aggregate),
  };
}

/** @param {SyntaxNode} selector @param {Source} source @returns {Matcher[]} */
function readMatchers(selector, { text, budget }) {
  const name = selector.getChild('Identifier');
  const list = selector.getChild('LabelMatchers');
  if (list?.getChild('QuotedLabelMatcher') || list?.getChild('QuotedLabelName'))
    throw unsupported(list, text);
  const nodes = list?.getChildren('UnquotedLabelMatcher') ?? [];
  if (nodes.length > MAX_MATCHERS)
    throw badQuery(`a selector has at most ${MAX_MATCHERS} matchers. List the texts of a label: a=~"(b|c)"`);
  const matchers = nodes.map((matcher) => {
    const [label, operator, literal] = ['LabelName', 'MatchOp', 'StringLiteral'].map((child) =>
      textOf(/** @type {SyntaxNode} */ (matcher.getChild(child)), text),
    );
    return createMatcher(String(label), String(operator), unquote(String(literal)), budget);
  });
  return name ? [createMatcher(NAME_LABEL, '=', textOf(name, text)), ...matchers] : matchers;
}

/** @param {SyntaxNode} node @returns {SyntaxNode} its only child, without brackets */
const onlyChild = (node) => {
  const children = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (child.name !== 'LineComment') children.push(child);
  const [first] = children;
  if (!first || children.length > 1) throw badQuery(`one argument is expected. ${SUPPORTED}`);
  return first;
};

/** @param {SyntaxNode} node @param {string} text */
const textOf = ({ from, to }, text) => text.slice(from, to);

/** @param {SyntaxNode} node @param {string} text */
const unsupported = (node, text) =>
  badQuery(`${textOf(node, text).slice(0, 200)} is not supported. ${SUPPORTED}`);
