import { html } from 'htm/preact';

/** The mark: a mill wheel over its race. web/mark.svg is the same drawing. */
export function Logo() {
  return html`
    <svg class="logo" viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">
      <g class="logo-wheel">
        <circle cx="12" cy="9.5" r="5.6" />
        <path d="M12 1.2v16.6M3.7 9.5h16.6M6.13 3.63l11.74 11.74M17.87 3.63 6.13 15.37" />
      </g>
      <path
        class="logo-race"
        d="M1.5 21.6c1.75 0 1.75-1.5 3.5-1.5s1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5"
      />
    </svg>
  `;
}
