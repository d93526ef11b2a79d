import { createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import type { Asset, AssetMember } from './api.ts';
import { canHold } from './move-dialogs.tsx';
import type { Target } from './target-field.tsx';

type Dragged = { kind: 'asset'; asset: Asset } | { kind: 'member'; member: AssetMember };

interface Drag {
  /** null: nothing is dragged */
  dragged: Dragged | null;
  /** @returns attributes of an element that can be dragged */
  source: (item: Dragged) => object;
  /** @returns attributes of an element on which what is dragged can be dropped */
  target: (place: Target) => object;
}

const NO_DRAG: Drag = { dragged: null, source: () => ({}), target: () => ({}) };

export const DragContext = createContext(NO_DRAG);

export const useDrag = (): Drag => useContext(DragContext);

/** @returns whether a move to this place is allowed, and changes something */
export function accepts(dragged: Dragged, { asset: place }: Target): boolean {
  if (dragged.kind === 'member') return place !== null && place.asset_id !== dragged.member.asset_id;
  return place === null ? dragged.asset.parent_id !== null : canHold(place, dragged.asset);
}

/** @param mayDrag false: nothing can be dragged */
export function useDragging(mayDrag: boolean, onDrop: (dragged: Dragged, place: Target) => void): Drag {
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const [over, setOver] = useState<string | null>(null);
  if (!mayDrag) return NO_DRAG;
  const stop = () => {
    setDragged(null);
    setOver(null);
  };
  return {
    dragged,
    source: (item) => ({
      draggable: true,
      onDragStart(event: DragEvent) {
        const name = item.kind === 'asset' ? item.asset.path : (item.member.sensor ?? item.member.device);
        event.dataTransfer?.setData('text/plain', name ?? '');
        setDragged(item);
      },
      onDragEnd: stop,
    }),
    target(place) {
      if (!dragged || !accepts(dragged, place)) return {};
      const accept = (event: DragEvent) => {
        event.preventDefault();
        setOver(place.label);
      };
      return {
        'data-drop': over === place.label ? 'over' : 'open',
        // A pointer that rests sends no `dragover` in all browsers.
        onDragEnter: accept,
        onDragOver: accept,
        onDragLeave({ currentTarget, relatedTarget }: DragEvent) {
          // The pointer may only have left a part of the element, and it enters the next target first.
          if ((currentTarget as Element).contains(relatedTarget as Node | null)) return;
          setOver((label) => (label === place.label ? null : label));
        },
        onDrop(event: DragEvent) {
          event.preventDefault();
          stop();
          onDrop(dragged, place);
        },
      };
    },
  };
}

/** @returns the value; while it is held, the value from before. So nothing on the page moves under a pointer that drags. */
export function useHeld<T>(value: T, isHeld: boolean): T {
  const last = useRef(value);
  if (!isHeld) last.current = value;
  return last.current;
}
