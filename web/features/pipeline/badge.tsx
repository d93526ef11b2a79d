import { signOf, useVerdict } from '../../kit/verdict.tsx';
import '../shared/count.css';
import './badge.css';

/** Renders the level of the verdict. If all is well, there is no badge. */
export function LevelBadge() {
  const { level } = useVerdict();
  if (level === 'good') return null;
  return (
    <span class="navigation-count verdict-mark" data-level={level}>
      <span aria-hidden="true">{signOf(level)}</span>
      <span class="visually-hidden"> {level === 'critical' ? 'critical' : 'needs a look'}</span>
    </span>
  );
}
