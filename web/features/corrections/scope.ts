import { useMay } from '../../state/session.ts';

/** The scope that corrections need. */
export const SCOPE = 'admin';

export const useMayCorrect = (): boolean => useMay(SCOPE);
