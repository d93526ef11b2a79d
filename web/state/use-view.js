import { useEffect, useState } from 'preact/hooks';
import { useParts } from './hooks.js';

/** @import { ViewName } from '../views/load.js' */

/**
 * The component of a view, fetched if need be.
 *
 * @param {ViewName} name
 * @returns {any} undefined while it is fetched
 * @throws {Error} when it cannot be fetched: the error boundary around says so
 */
export function useView(name) {
  const { views } = useParts();
  const [failure, setFailure] = useState(/** @type {unknown} */ (null));
  const [, setLoaded] = useState(0);
  useEffect(() => {
    if (views.get(name)) return undefined;
    let wanted = true;
    views.load(name).then(
      () => wanted && setLoaded((count) => count + 1),
      (error) => wanted && setFailure(error),
    );
    return () => {
      wanted = false;
    };
  }, [views, name]);
  if (failure) throw failure;
  return views.get(name);
}
