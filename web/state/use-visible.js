import { useEffect, useState } from 'preact/hooks';

/** A screen more above and below, so that one seldom sees it come. */
const MARGIN = '100% 0px';

/**
 * @param {{ current: HTMLElement | null }} element
 * @returns {boolean} whether it is in sight, or nearly
 */
export function useVisible(element) {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries.at(-1)?.isIntersecting ?? false),
      {
        rootMargin: MARGIN,
      },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isVisible;
}
