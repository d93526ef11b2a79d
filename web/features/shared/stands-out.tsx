import { formatCount } from '../../format.ts';
import { sensorHref, withQuery } from '../../routes.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import { useServices } from '../../state/hooks.ts';
import './stands-out.css';

/** Number of entries that the list shows of each kind of fault. A kind that the user chose, or that is the only one, shows more. */
export const ENTRIES_OF_KIND = 4;
const MORE = 12;

/** Renders a link to the entries that a list leaves out. @param props `count`: their number, as text */
export const More = ({ count, href }: { count: string; href: string }) => (
  <p class="stands-out-more">
    <a class="link" href={href}>
      and {count} more
    </a>
  </p>
);

export type Entry = { key: string; href: string; name: string; owner: string; text: string; tone: string };

export const linkTo = ({ key, id, name, device }: FleetSensor) => ({
  key,
  href: sensorHref(device.id, id, { device: device.name, sensor: name }),
  name,
  owner: device.name,
});

/** Renders the entries of one kind. Only shown entries are created, because the list is drawn each second and each entry costs hashes. */
export function Kind<T>({
  look,
  title,
  count,
  items,
  entryOf,
  isOnly,
}: {
  look: string;
  title: string;
  /** number of all entries, which may exceed the number of items */
  count: number;
  items: readonly T[];
  entryOf: (item: T) => Entry;
  isOnly: boolean;
}) {
  const { router } = useServices();
  const place = router.place.value;
  if (count === 0) return null;
  const chosen = place.query.get('look') === look;
  const hidden = place.query.has('look') && !chosen;
  const shown = hidden ? [] : items.slice(0, chosen || isOnly ? MORE : ENTRIES_OF_KIND).map(entryOf);
  const href = withQuery(place, { look: chosen ? null : look });
  return (
    <div class="stands-out-kind" data-look={look}>
      <h2>
        <a
          href={href}
          aria-current={chosen ? 'true' : undefined}
          title={chosen ? 'Show all again' : 'Show only these on the wall'}
        >
          {title} <b>{formatCount(count)}</b>
        </a>
      </h2>
      <ul>
        {shown.map(({ key, href: to, name, owner, text, tone }) => (
          <li key={key}>
            <a href={to}>
              <span class="stands-out-name">
                <span class="stands-out-what">{name}</span> <span class="stands-out-of small">{owner}</span>
              </span>
              <span class="stands-out-text" data-tone={tone}>
                {text}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {chosen && count > shown.length && (
        <p class="stands-out-more">and {formatCount(count - shown.length)} more, on the wall</p>
      )}
      {!chosen && !hidden && count > shown.length && (
        <More count={formatCount(count - shown.length)} href={href} />
      )}
    </div>
  );
}
