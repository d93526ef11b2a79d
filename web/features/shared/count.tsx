import { formatCount } from '../../format.ts';
import './count.css';

const MAX_SHOWN = 999;

/**
 * Renders the number next to a link of the navigation.
 *
 * @param props `text`: the number, if it is not too large; `what`: what it counts
 */
export const Count = ({
  count,
  text = formatCount(count),
  what,
  isCritical,
}: {
  count: number;
  text?: string;
  what: string;
  isCritical?: boolean;
}) => (
  <span class="navigation-count" data-critical={isCritical} title={`${text} ${what}`}>
    {count > MAX_SHOWN ? `${formatCount(MAX_SHOWN)}+` : text}
    <span class="visually-hidden"> {what}</span>
  </span>
);
