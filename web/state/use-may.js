import { useObservable, useParts } from './hooks.js';

/** @param {import('./session.js').Scope} scope @returns {boolean} whether whoever is here may do that */
export function useMay(scope) {
  const { session } = useParts();
  return useObservable(session.state).scopes.includes(scope);
}
