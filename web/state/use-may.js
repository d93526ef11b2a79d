import { useObservable, useParts } from './hooks.js';

/** @import { Scope } from './session.js' */

/** @param {Scope} scope @returns {boolean} whether whoever is here may do that */
export function useMay(scope) {
  const { session } = useParts();
  return useObservable(session.state).scopes.includes(scope);
}
