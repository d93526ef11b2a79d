import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Slots } from '../../feature.ts';

/** Loads the fields of places after the wall, so that the first view does not wait for them. */
export function WallSlot(props: Slots['wallPlaces']) {
  const [Part, setPart] = useState<ComponentType<Slots['wallPlaces']> | null>(null);
  useEffect(() => {
    // The wall works without this module. A reload of the page loads it again.
    import('./wall-places.tsx').then(({ WallPlaces }) => setPart(() => WallPlaces)).catch(() => {});
  }, []);
  return Part && <Part {...props} />;
}
