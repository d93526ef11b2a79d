import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';

/** What the lower half of the fleet lists; a site that was chosen is kept. */
export function ListSwitch() {
  const { router } = useParts();
  const { query } = useObservable(router.place);
  const site = query.get('site');
  const ofSite = site ? `site=${encodeURIComponent(site)}` : '';
  const shown = query.get('show') === 'devices' ? 'devices' : 'sensors';
  const lists = [
    { name: 'sensors', label: 'Sensors', href: ofSite ? `/?${ofSite}` : '/' },
    { name: 'devices', label: 'Devices', href: `/?show=devices${ofSite && `&${ofSite}`}` },
  ];
  return html`
    <nav class="list-switch" aria-label="What is listed">
      ${lists.map(
        ({ name, label, href }) =>
          html`<a key=${name} href=${href} aria-current=${name === shown ? 'true' : undefined}>${label}</a>`,
      )}
    </nav>
  `;
}
