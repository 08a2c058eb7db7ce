import { isLive } from '../api/client.ts'
import { count, pluralize } from '../format/numbers.ts'
import { Link, path } from '../navigation/router.tsx'
import { candidateCount, proposalCount } from '../state/facts.ts'
import { nextTheme, type Theme, theme } from '../state/window.ts'
import { Button, Icon, type IconName } from '../ui/elements.tsx'
import { openKeysHelp, openPalette, visiblePlaces } from './palette.tsx'

/** The logo, equal to favicon.svg. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false">
    <rect fill="var(--accent-strong)" width="32" height="32" rx="8" />
    <path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" d="M21.6 11.2a7.5 7.5 0 1 0 0 9.6" />
    <circle fill="#fff" cx="16" cy="16" r="2.6" />
  </svg>
)

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

export function Sidebar() {
  const proposals = proposalCount.value ?? 0
  const candidates = candidateCount.value ?? 0
  const waiting = [
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
        {visiblePlaces().map(({ href, name, icon }) => (
          <Link key={href} href={href} class="side-link" aria-current={isUnder(href) ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{name}</span>
            {href === '/review' && waiting !== '' ? (
              <span class="badge odd number to-end" title={`${waiting} waiting`}>
                <span aria-hidden="true">{count(proposals + candidates)}</span>
                <span class="unseen">, {waiting} waiting</span>
              </span>
            ) : null}
          </Link>
        ))}
        <button type="button" class="side-link narrow-only" onClick={openPalette}>
          <Icon name="more" />
          <span>More</span>
        </button>
      </nav>
      <Button icon="recall" class="wide-only" onClick={openPalette}>
        Go to… <kbd class="to-end">Ctrl K</kbd>
      </Button>
      <div class="side-foot">
        <LiveState />
        <div class="row">
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
            onClick={openKeysHelp}
          />
        </div>
      </div>
    </header>
  )
}

const isUnder = (href: string): boolean => path.value === href || (href !== '/' && path.value.startsWith(`${href}/`))

function LiveState() {
  const isLost = isLive.value === false
  const title = isLost ? 'The server does not answer.' : 'Changes by other programs appear automatically.'
  return (
    <p class="live row" title={title}>
      <span class={isLost ? 'dot odd' : 'dot good'} aria-hidden="true" />
      <span class="wide-only" role="status">
        {isLive.value === null ? 'Connecting' : isLost ? 'Reconnecting' : 'Live'}
      </span>
    </p>
  )
}
