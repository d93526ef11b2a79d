import { type Problem, type ProblemWords, problemWords } from '../../api/request.ts';

const WORDS: Record<string, ProblemWords> = {
  asset_exists: {
    title: 'This name is taken',
    advice: 'Another asset with the same parent has it.',
  },
  asset_circle: {
    title: 'An asset cannot be below itself',
    advice: 'Choose another parent.',
  },
  asset_in_use: {
    title: 'The asset is not empty',
    advice: 'Move or retire its children, and move its devices and sensors first.',
  },
  not_found: {
    title: 'The asset or the device is not there any more',
    advice: 'Somebody may have moved, renamed or retired it.',
  },
};

/** @returns a problem of an edit of the tree in words */
export function editWords(problem: Problem): ProblemWords {
  const { code, status, detail } = problem;
  if (code === 'asset_level') return { title: 'The level does not fit', advice: detail };
  const refused = { title: 'This is not accepted', advice: detail };
  return WORDS[code] ?? (status === 400 ? refused : problemWords(problem));
}
