import { isLive } from '../api/live.ts'
import { count, counted } from '../format/numbers.ts'
import { Link } from '../navigation/link.tsx'
import { path } from '../navigation/router.ts'
import { candidateCount, proposalCount } from '../state/memory-facts.ts'
import { nextTheme, type Theme, theme } from '../state/theme.ts'
import { Button } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { isKeysHelpOpen } from './keys-help.tsx'
import { Logo } from './logo.tsx'
import { isPaletteOpen } from './palette.tsx'
import { places } from './places.ts'

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

export function Sidebar() {
  const [proposals, candidates] = [proposalCount.value ?? 0, candidateCount.value ?? 0]
  const waiting = proposals + candidates
  const words = [
    ...(proposals === 0 ? [] : [counted(proposals, 'proposal')]),
    ...(candidates === 0 ? [] : [counted(candidates, 'candidate')]),
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
