import { useEffect } from 'preact/hooks';

/** @param {string} title what this view shows; becomes the name of the tab and of the history entry */
export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }, [title]);
}
