/** The same sign as the icon of the page. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false">
    <rect class="logo-ground" width="32" height="32" rx="8" />
    <path class="logo-arc" d="M21.6 11.2a7.5 7.5 0 1 0 0 9.6" />
    <circle class="logo-dot" cx="16" cy="16" r="2.6" />
  </svg>
)
