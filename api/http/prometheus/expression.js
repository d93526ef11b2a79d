import { parser } from '@prometheus-io/lezer-promql';
import { badQuery } from './bad-query.js';
import { durationOf } from './durations.js';
import { createMatcher, unquote } from './matchers.js';

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

/**
 * Parses an expression.
 *
 * @param {string} text PromQL
 * @returns {Expression}
 * @throws {MillraceError} `bad_parameter`: the text is not PromQL, or is not supported
 */
export function parseExpression(text) {
  if (text.length > MAX_EXPRESSION) throw badQuery(`an expression has at most ${MAX_EXPRESSION} characters`);
  return readExpression(onlyChild(parse(text).topNode), text);
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
 * @returns {Matcher[]}
 * @throws {MillraceError} `bad_parameter`
 */
export function parseSelector(text) {
  const { matchers, windowMs, keepsName, group } = parseExpression(text);
  if (windowMs !== null || !keepsName || group)
    throw badQuery(
      'match[] must be a selector, such as millrace_value{site="Office"}, without a function or an aggregation',
    );
  return matchers;
}

/** @param {SyntaxNode} node @param {string} text @returns {Expression} */
function readExpression(node, text) {
  if (node.name === 'ParenExpr') return readExpression(onlyChild(node), text);
  if (node.name !== 'AggregateExpr') return { ...readWindow(node, text), group: null };
  const operator = textOf(/** @type {SyntaxNode} */ (node.getChild('AggregateOp')), text).toLowerCase();
  const modifier = node.getChild('AggregateModifier');
  if (!SERIES_OPERATORS.includes(operator) || modifier?.getChild('Without')) throw unsupported(node, text);
  const grouping = modifier?.getChild('GroupingLabels');
  if (grouping?.getChild('QuotedLabelName')) throw unsupported(node, text);
  const labels = grouping?.getChildren('LabelName') ?? [];
  const inner = readWindow(onlyChild(/** @type {SyntaxNode} */ (node.getChild('FunctionCallBody'))), text);
  const group = {
    operator: /** @type {SeriesOperator} */ (operator),
    labels: labels.map((label) => textOf(label, text)),
  };
  return { ...inner, group };
}

/** @param {SyntaxNode} node @param {string} text @returns {Omit<Expression, 'group'>} */
function readWindow(node, text) {
  if (node.name === 'ParenExpr') return readWindow(onlyChild(node), text);
  if (node.name === 'VectorSelector')
    return { matchers: readMatchers(node, text), aggregate: 'last', windowMs: null, keepsName: true };
  const identifier = node.getChild('FunctionIdentifier');
  const aggregate = identifier && WINDOW_FUNCTIONS.get(textOf(identifier, text));
  if (!aggregate) throw unsupported(node, text);
  const matrix = onlyChild(/** @type {SyntaxNode} */ (node.getChild('FunctionCallBody')));
  const [selector, duration] = ['VectorSelector', 'DurationExpr'].map((name) => matrix.getChild(name));
  if (matrix.name !== 'MatrixSelector' || !selector || !duration) throw unsupported(matrix, text);
  return {
    matchers: readMatchers(selector, text),
    aggregate,
    windowMs: durationOf(textOf(duration, text)),
    keepsName: KEEPS_NAME.includes(aggregate),
  };
}

/** @param {SyntaxNode} selector @param {string} text @returns {Matcher[]} */
function readMatchers(selector, text) {
  const name = selector.getChild('Identifier');
  const list = selector.getChild('LabelMatchers');
  if (list?.getChild('QuotedLabelMatcher') || list?.getChild('QuotedLabelName'))
    throw unsupported(list, text);
  const matchers = (list?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const [label, operator, literal] = ['LabelName', 'MatchOp', 'StringLiteral'].map((child) =>
      textOf(/** @type {SyntaxNode} */ (matcher.getChild(child)), text),
    );
    return createMatcher(String(label), String(operator), unquote(String(literal)));
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
