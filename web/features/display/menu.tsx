import { useComputed } from '@preact/signals';
import { createZone, formatZone, hasOwnZone, LOCAL } from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { useServices } from '../../state/hooks.ts';
import './display.css';
import type { ZoneName } from '../../format.ts';

const THEMES = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const DIAL = 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11M8 2.5v11M8 5h4.6M8 8h5.5M8 11h4.6';
const MENU = 'display-menu';

/** Renders a button with a menu of the theme and the time zone. Escape or a click outside of the menu closes it. */
export function DisplayMenu() {
  const { preferences } = useServices();
  const { theme } = preferences.choice.value;
  return (
    <>
      <button type="button" class="button display-button" popovertarget={MENU} title="Theme and time zone">
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
          <path d={DIAL} />
        </svg>
        <span class="visually-hidden">Theme and time zone</span>
      </button>
      <div id={MENU} class="display-menu" popover="auto">
        <Choice
          legend="Theme"
          isTitled
          options={THEMES}
          value={theme}
          onChange={(next) => preferences.change({ theme: next })}
        />
        <ZoneChoice />
      </div>
    </>
  );
}

/** Renders the choice of the time zone for all times. If local time equals UTC, there is no choice. */
function ZoneChoice() {
  const { clock, preferences } = useServices();
  const { zone } = preferences.choice.value;
  // The offset may change while the page is open, when summer time begins or ends. So the clock updates it.
  const own = useComputed(() => formatZone(LOCAL, clock.time.value)).value;
  if (!hasOwnZone(new Date().getFullYear()) && !zone.name.includes('/')) return null;
  return (
    <Choice
      legend="Times are shown in"
      isTitled
      options={zones(zone.name, own)}
      value={zone.name}
      onChange={(name) => preferences.change({ zone: createZone(name) })}
    />
  );
}

/**
 * Returns the options of the time zone. "Local" names its UTC offset. A zone from the range form is an option only while it is
 * chosen.
 *
 * @param own UTC offset of local time, as text
 */
function zones(chosen: ZoneName, own: string): Parameters<typeof Choice<ZoneName>>[0]['options'] {
  return [
    { value: 'local', label: `Local (${own})`, title: `Times as on the wall here, which is ${own}` },
    { value: 'utc', label: 'UTC', title: 'Times in UTC' },
    ...(chosen.includes('/')
      ? [{ value: chosen, label: cityOf(chosen), title: `Times of ${chosen}` } as const]
      : []),
  ];
}

const cityOf = (zone: ZoneName): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');
