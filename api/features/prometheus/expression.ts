import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import type { Aggregate } from '../../history/reading/bins.ts';
import { badQuery } from './bad-query.ts';
import { durationOf } from './durations.ts';
import { createMatcher, type Matcher, PatternBudget, unquote } from './matchers.ts';

/** A missing label counts as an empty text. */
export type Labels = Record<string, string>;

/** Millrace answers this part of PromQL: a selector over a window of time, and at most one aggregation of its series. */
export interface Expression {
  matchers: Matcher[];
  /** how the samples of a window become one value */
  aggregate: Aggregate;
  /** null: the selector has no window of its own */
  windowMs: number | null;
  keepsName: boolean;
  /** null: each series by itself */
  group: { operator: SeriesOperator; labels: string[] } | null;
}

export type SeriesOperator = 'sum' | 'avg' | 'min' | 'max' | 'count';

/** This label has the name of the metric. */
export const NAME_LABEL = '__name__';

const WINDOW_FUNCTIONS: Map<string, Aggregate> = new Map(
  (['avg', 'min', 'max', 'sum', 'count', 'first', 'last'] as const).map((aggregate) => [
    `${aggregate}_over_time`,
    aggregate,
  ]),
);

/** They keep the label `__name__`, as in Prometheus. */
const KEEPS_NAME: Aggregate[] = ['first', 'last'];

const SERIES_OPERATORS: readonly string[] = ['sum', 'avg', 'min', 'max', 'count'];

const SUPPORTED = `Millrace supports selectors, the functions ${[...WINDOW_FUNCTIONS.keys()].join(', ')}, and one of the aggregations ${SERIES_OPERATORS.join(', ')} around these, with or without "by".`;

/** Stops at the first syntax error. With its recovery from errors, the parser takes 1.2 s for 8 KB of `x{x{x{`. */
const STRICT = parser.configure({ strict: true });

/** In characters. A hundred names of devices fit. */
const MAX_EXPRESSION = 16_000;

/** The parser takes 0.4 s for 3,000 of `sum(`. */
const MAX_BRACKETS = 200;

/** More than enough: a sensor has six labels. */
const MAX_MATCHERS = 30;

/** `budget`: of all expressions of a request. @throws `bad_parameter` if the text is not PromQL, or is not supported */
export function parseExpression(text: string, budget: PatternBudget = new PatternBudget()): Expression {
  if (text.length > MAX_EXPRESSION) throw badQuery(`an expression has at most ${MAX_EXPRESSION} characters`);
  if (text.split('(').length > MAX_BRACKETS)
    throw badQuery(`an expression has at most ${MAX_BRACKETS} opening brackets`);
  return readExpression(onlyChild(parse(text).topNode), { text, budget });
}

/** @throws `bad_parameter` */
function parse(text: string) {
  try {
    return STRICT.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badQuery(`not valid PromQL: ${error.message}`);
  }
}

/** Such as `millrace_value{device="press-1"}`. `budget`: of all selectors of a request. @throws `bad_parameter` */
export function parseSelector(text: string, budget?: PatternBudget): Matcher[] {
  const { matchers, windowMs, keepsName, group } = parseExpression(text, budget);
  if (windowMs !== null || !keepsName || group)
    throw badQuery(
      'match[] must be a selector, such as millrace_value{site="Office"}, without a function or an aggregation',
    );
  return matchers;
}

type Source = { text: string; budget: PatternBudget };

function readExpression(node: SyntaxNode, source: Source): Expression {
  const { text } = source;
  if (node.name === 'ParenExpr') return readExpression(onlyChild(node), source);
  if (node.name !== 'AggregateExpr') return { ...readWindow(node, source), group: null };
  const operator = textOf(node.getChild('AggregateOp') as SyntaxNode, text).toLowerCase();
  const modifier = node.getChild('AggregateModifier');
  if (!SERIES_OPERATORS.includes(operator) || modifier?.getChild('Without')) throw unsupported(node, text);
  const grouping = modifier?.getChild('GroupingLabels');
  if (grouping?.getChild('QuotedLabelName')) throw unsupported(node, text);
  const labels = grouping?.getChildren('LabelName') ?? [];
  const inner = readWindow(onlyChild(node.getChild('FunctionCallBody') as SyntaxNode), source);
  const group = {
    operator: operator as SeriesOperator,
    labels: labels.map((label) => textOf(label, text)),
  };
  return { ...inner, group };
}

function readWindow(node: SyntaxNode, source: Source): Omit<Expression, 'group'> {
  const { text } = source;
  if (node.name === 'ParenExpr') return readWindow(onlyChild(node), source);
  if (node.name === 'VectorSelector')
    return { matchers: readMatchers(node, source), aggregate: 'last', windowMs: null, keepsName: true };
  const identifier = node.getChild('FunctionIdentifier');
  const aggregate = identifier && WINDOW_FUNCTIONS.get(textOf(identifier, text));
  if (!aggregate) throw unsupported(node, text);
  const matrix = onlyChild(node.getChild('FunctionCallBody') as SyntaxNode);
  const [selector, duration] = ['VectorSelector', 'DurationExpr'].map((name) => matrix.getChild(name));
  if (matrix.name !== 'MatrixSelector' || !selector || !duration) throw unsupported(matrix, text);
  return {
    matchers: readMatchers(selector, source),
    aggregate,
    windowMs: durationOf(textOf(duration, text)),
    keepsName: KEEPS_NAME.includes(aggregate),
  };
}

function readMatchers(selector: SyntaxNode, { text, budget }: Source): Matcher[] {
  const name = selector.getChild('Identifier');
  const list = selector.getChild('LabelMatchers');
  if (list?.getChild('QuotedLabelMatcher') || list?.getChild('QuotedLabelName'))
    throw unsupported(list, text);
  const nodes = list?.getChildren('UnquotedLabelMatcher') ?? [];
  if (nodes.length > MAX_MATCHERS)
    throw badQuery(`a selector has at most ${MAX_MATCHERS} matchers. List the texts of a label: a=~"(b|c)"`);
  const matchers = nodes.map((matcher) => {
    const [label, operator, literal] = ['LabelName', 'MatchOp', 'StringLiteral'].map((child) =>
      textOf(matcher.getChild(child) as SyntaxNode, text),
    );
    return createMatcher(String(label), String(operator), unquote(String(literal)), budget);
  });
  return name ? [createMatcher(NAME_LABEL, '=', textOf(name, text)), ...matchers] : matchers;
}

const onlyChild = (node: SyntaxNode): SyntaxNode => {
  const children = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (child.name !== 'LineComment') children.push(child);
  const [first] = children;
  if (!first || children.length > 1) throw badQuery(`one argument is expected. ${SUPPORTED}`);
  return first;
};

const textOf = ({ from, to }: SyntaxNode, text: string) => text.slice(from, to);

const unsupported = (node: SyntaxNode, text: string) =>
  badQuery(`${textOf(node, text).slice(0, 200)} is not supported. ${SUPPORTED}`);
