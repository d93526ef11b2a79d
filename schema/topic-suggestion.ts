import { identifyDevice } from './ids.ts';
import { type FurtherTopics, KINDS, OWN_TOPICS } from './topics.ts';

const MAX_CHARACTERS = 256;
const MAX_LEVELS = 8;

const ANY = '+';

/** Unlikely as names of devices. In place of a name, they count as misplaced. */
const RESERVED = new Set([...OWN_TOPICS.split('/'), ...KINDS]);

const LEVEL_COST = 2;
const EMPTY_LEVEL_COST = 1;
const OTHER_KIND_COST = 3;
const MAX_COST = 4;

type Change = { cost: number; levels: string[] };

/**
 * Names of devices, groups and nodes stay unchanged. If several topics of the contract are equally close, the first is suggested.
 * @returns null: no topic is close
 */
export function suggestTopic(topic: string, contract: FurtherTopics): string | null {
  const levels = topic.split('/', MAX_LEVELS + 1);
  if (topic.length > MAX_CHARACTERS || levels.length > MAX_LEVELS || contract.parse(topic)) return null;
  const { isChosen = () => false } = contract;
  let best: Change | null = null;
  for (const filter of contract.filters) {
    const budget: number = best === null ? MAX_COST : best.cost - 1;
    best = nearestChange(levels, filter.split('/'), budget, { isAnchored: false, isChosen }) ?? best;
  }
  if (best === null) return null;
  const suggested = best.levels.join('/');
  const device = contract.parse(suggested)?.device;
  return device !== undefined && identifyDevice(device) ? suggested : null;
}

/** `isAnchored`: an earlier level resembles its word; `isChosen`: of the contract */
interface Search {
  isAnchored: boolean;
  isChosen: (level: string) => boolean;
}

/** @param budget also limits the recursion @returns null: above the budget */
function nearestChange(
  levels: string[],
  pattern: string[],
  budget: number,
  { isAnchored, isChosen }: Search,
): Change | null {
  if (budget < 0) return null;
  const [level, ...levelsAfter] = levels;
  const [wanted, ...patternAfter] = pattern;
  if (level === undefined && wanted === undefined) return isAnchored ? { cost: 0, levels: [] } : null;
  let best: Change | null = null;
  const consider = (
    cost: number,
    kept: string[],
    restOfLevels: string[],
    restOfPattern: string[],
    anchors: boolean = isAnchored,
  ) => {
    const limit = best === null ? budget : best.cost - 1;
    const rest = nearestChange(restOfLevels, restOfPattern, limit - cost, {
      isAnchored: anchors,
      isChosen,
    });
    if (rest) best = { cost: cost + rest.cost, levels: [...kept, ...rest.levels] };
  };
  if (level !== undefined) {
    consider(level === '' ? EMPTY_LEVEL_COST : LEVEL_COST, [], levelsAfter, pattern);
  }
  if (wanted !== undefined && wanted !== ANY && !isChosen(wanted)) {
    consider(LEVEL_COST, [wanted], levels, patternAfter);
  }
  if (level !== undefined && wanted !== undefined) {
    const kept = wanted === ANY ? level : wanted;
    const cost = costOf(level, wanted);
    const anchors = isAnchored || (wanted !== ANY && cost < OTHER_KIND_COST);
    consider(cost, [kept], levelsAfter, patternAfter, anchors);
  }
  return best;
}

function costOf(level: string, wanted: string): number {
  if (wanted === ANY) return isMisplaced(level) ? Number.POSITIVE_INFINITY : 0;
  if (level === wanted) return 0;
  // The client may use another word for the kind, such as `data` for `measurements`.
  const isKind = level !== '' && KINDS.some((kind) => kind === wanted);
  return Math.min(editsTo(level, wanted), isKind ? OTHER_KIND_COST : Number.POSITIVE_INFINITY);
}

const isMisplaced = (level: string) =>
  RESERVED.has(level) || KINDS.some((kind) => Number.isFinite(editsTo(level, kind)));

/** Infinite if more than a third of the word differs. */
function editsTo(level: string, wanted: string): number {
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  if (Math.abs(level.length - wanted.length) > limit) return Number.POSITIVE_INFINITY;
  // A level that differs only in case counts as one changed character.
  const edits = Math.max(1, editDistance(level.toLowerCase(), wanted.toLowerCase()));
  return edits <= limit ? edits : Number.POSITIVE_INFINITY;
}

export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = Number(row[j - 1]) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, Number(row[j]) + 1, Number(next[j - 1]) + 1));
    }
    row = next;
  }
  return Number(row[b.length]);
}
