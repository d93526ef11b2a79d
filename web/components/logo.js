import { html } from 'htm/preact';

/** The mark: a mill wheel over its race. web/mark.svg is the same drawing. */
export function Logo() {
  return html`
    <svg class="logo" viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">
      <circle cx="12" cy="9.4" r="4.5" />
      <circle cx="12" cy="9.4" r="0.6" />
      <path d="M12 4.9l4.59-2.3M15.18 6.22l4.87 1.62M16.5 9.4l2.3 4.59M15.18 12.58l-1.62 4.87M12 13.9l-4.59 2.3M8.82 12.58l-4.87-1.62M7.5 9.4 5.2 4.81M8.82 6.22l1.62-4.87" />
      <path
        class="logo-race"
        d="M1.5 21.6c1.75 0 1.75-1.5 3.5-1.5s1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5 1.75-1.5 3.5-1.5 1.75 1.5 3.5 1.5"
      />
    </svg>
  `;
}
