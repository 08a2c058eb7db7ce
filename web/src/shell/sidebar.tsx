import { isLive } from '../api/client.ts'
import { count, pluralize } from '../format/numbers.ts'
import { Link, path } from '../navigation/router.tsx'
import { candidateCount, proposalCount } from '../state/facts.ts'
import { nextTheme, type Theme, theme } from '../state/window.ts'
import { Button, Icon, type IconName } from '../ui/elements.tsx'
import { isKeysHelpOpen, isPaletteOpen, places } from './palette.tsx'

/** The same sign as the icon of the page. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false">
    <rect class="logo-ground" width="32" height="32" rx="8" />
    <path class="logo-arc" d="M21.6 11.2a7.5 7.5 0 1 0 0 9.6" />
    <circle class="logo-dot" cx="16" cy="16" r="2.6" />
  </svg>
)

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

export function Sidebar() {
  const [proposals, candidates] = [proposalCount.value ?? 0, candidateCount.value ?? 0]
  const waiting = proposals + candidates
  const words = [
    ...(proposals === 0 ? [] : [pluralize(proposals, 'proposal')]),
    ...(candidates === 0 ? [] : [pluralize(candidates, 'candidate')]),
  ].join(' and ')
  return (
    <header class="side">
      <Link href="/" class="brand">
        <Logo />
        <span>Credence</span>
      </Link>
      <nav class="side-nav" aria-label="Pages">
        {places().map(({ href, name, icon }) => (
          <Link key={href} href={href} class="side-link" aria-current={isUnder(href) ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{name}</span>
            {href === '/review' && waiting > 0 ? (
              <span class="tally" title={`${words} waiting`}>
                <span aria-hidden="true">{count(waiting)}</span>
                <span class="unseen">, {words} waiting</span>
              </span>
            ) : null}
          </Link>
        ))}
        <button type="button" class="side-link narrow-only" onClick={openPalette}>
          <Icon name="more" />
          <span>More</span>
        </button>
      </nav>
      <button type="button" class="palette-button wide-only" onClick={openPalette}>
        <Icon name="recall" />
        <span>Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="side-foot">
        <LiveState />
        <div class="side-tools">
          <Button
            tone="quiet"
            icon={themeIcons[theme.value]}
            aria-label={`Theme: ${theme.value}. Change it`}
            title={`Theme: ${theme.value}`}
            onClick={nextTheme}
          />
          <Button
            tone="quiet"
            icon="keys"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            class="wide-only"
            onClick={() => {
              isKeysHelpOpen.value = true
            }}
          />
        </div>
      </div>
    </header>
  )
}

const openPalette = (): void => {
  isPaletteOpen.value = true
}

const isUnder = (href: string): boolean => path.value === href || (href !== '/' && path.value.startsWith(`${href}/`))

function LiveState() {
  const words = isLive.value === null ? 'Connecting' : isLive.value ? 'Live' : 'Reconnecting'
  return (
    <p
      class="live"
      title={isLive.value === false ? 'The server does not answer.' : 'Changes by other programs appear by themselves.'}
    >
      <span class={isLive.value === false ? 'live-dot waiting' : 'live-dot'} aria-hidden="true" />
      <span class="live-words" role="status">
        {words}
      </span>
    </p>
  )
}
