import { useEffect, useRef, useState } from 'preact/hooks';
import { useServices } from '../state/hooks.ts';
import { useMay } from '../state/session.ts';
import type { Page } from './slots.tsx';
import { useFeaturePages } from './slots.tsx';
import './header.css';

export function Navigation({ view }: { view: string }) {
  const { scopes } = useServices().session.state.value;
  const all = useFeaturePages();
  const pages = all.filter(
    ({ place, scope }) => place === 'navigation' && (!scope || scopes.includes(scope)),
  );
  const isOfFleet = [
    'device',
    'sensor',
    ...all.filter(({ place }) => place === 'lists').map(({ name }) => name),
  ];
  const nav = useRef<HTMLElement | null>(null);
  const more = useMore(nav, [view, ...pages.map(({ name }) => name)].join(' '));
  return (
    <nav class="navigation" aria-label="Views" ref={nav}>
      {more.left && <More nav={nav} side="left" />}
      <a href="/" aria-current={view === 'fleet' ? 'page' : undefined} data-within={isOfFleet.includes(view)}>
        Fleet
      </a>
      {pages.map((page) => (
        <PageLink key={page.name} {...page} isHere={view === page.name} />
      ))}
      <a
        class="navigation-manual"
        href="/docs/"
        title="Tutorials, how-to pages, and the interfaces"
        data-native
      >
        Manual
      </a>
      {more.right && <More nav={nav} side="right" />}
    </nav>
  );
}

function PageLink({ name, label, Badge, Link, isHere }: Page & { isHere: boolean }) {
  const mayRead = useMay('read');
  if (Link) return <Link isHere={isHere} />;
  return (
    <a href={`/${name}`} aria-current={isHere ? 'page' : undefined}>
      {label}
      {mayRead && Badge && <Badge />}
    </a>
  );
}

type Side = 'left' | 'right';
type Row = { current: HTMLElement | null };

/** Renders an arrow at an edge of the row of links behind which more links follow. Keyboards reach the links without it. */
const More = ({ nav, side }: { nav: Row; side: Side }) => (
  <button
    type="button"
    class="navigation-more"
    data-side={side}
    tabIndex={-1}
    aria-hidden="true"
    onClick={() => nav.current?.scrollBy({ left: (side === 'left' ? -1 : 1) * STEP_PX, behavior: 'smooth' })}
  >
    {side === 'left' ? '‹' : '›'}
  </button>
);

const STEP_PX = 180;

/** Scrolls the link of the shown view to the middle, because not all links fit on a phone, until the user scrolls. @returns where more follow */
function useMore(nav: Row, shown: string): Record<Side, boolean> {
  const [more, setMore] = useState({ left: false, right: false });
  useEffect(() => {
    const { current } = nav;
    if (!current) return undefined;
    const measure = () => {
      const { scrollLeft, clientWidth, scrollWidth } = current;
      const next = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
      setMore((now) => (now.left === next.left && now.right === next.right ? now : next));
    };
    let ownScroll: number | null = null;
    // The numbers in the links arrive later than the links, and move them.
    const resizes = new ResizeObserver(() => {
      if (ownScroll === null || current.scrollLeft === ownScroll) {
        current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
        ownScroll = current.scrollLeft;
      }
      measure();
    });
    for (const element of [current, ...current.querySelectorAll('a')]) resizes.observe(element);
    current.addEventListener('scroll', measure);
    return () => {
      resizes.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [nav, shown]);
  return more;
}

export const Breadcrumbs = ({ steps }: { steps: { label: string; href: string; attributes?: object }[] }) => (
  <nav class="breadcrumbs" aria-label="Breadcrumb">
    <ol>
      {steps.map(({ label, href, attributes }) => (
        <li key={href}>
          <a href={href} {...attributes}>
            {label}
          </a>
        </li>
      ))}
    </ol>
  </nav>
);
