import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { isSignedIn, type Refusal } from './api/client.ts'
import { useKeys } from './navigation/keys.ts'
import { match } from './navigation/match.ts'
import { navigate, path } from './navigation/router.tsx'
import { home, memory, secondary } from './pages/page-chunks.ts'
import { KeysHelp, openKeysHelp, Palette, visiblePlaces } from './shell/palette.tsx'
import { Sidebar } from './shell/sidebar.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { commandLine, health } from './state/facts.ts'
import { subject } from './state/window.ts'
import { LateSign, lazy, NoSuchPage, ToastRegion } from './ui/notice.tsx'

type Page = {
  /** Whether the page uses the whole window. */
  readonly isFull?: boolean
  /** Whether the path may have a second segment, the selected item. */
  readonly hasItems?: boolean
  readonly show: (chosen: string | null) => ComponentChild
}

const HomePage = lazy(async () => (await home()).HomePage)
const RecallPage = lazy(async () => (await memory()).RecallPage)
const BeliefsPage = lazy(async () => (await memory()).BeliefsPage)
const EvaluationPage = lazy(async () => (await secondary()).EvaluationPage)
const ConversationsPage = lazy(async () => (await secondary()).ConversationsPage)
const ReviewPage = lazy(async () => (await secondary()).ReviewPage)
const JournalPage = lazy(async () => (await secondary()).JournalPage)
const StatusPage = lazy(async () => (await secondary()).StatusPage)
const PeoplePage = lazy(async () => (await secondary()).PeoplePage)

const pages: Readonly<Record<string, Page>> = {
  '': { show: () => <HomePage /> },
  recall: { show: () => <RecallPage /> },
  beliefs: { isFull: true, hasItems: true, show: (chosen) => <BeliefsPage chosen={chosen} /> },
  review: { show: () => <ReviewPage /> },
  conversations: { isFull: true, hasItems: true, show: (chosen) => <ConversationsPage chosen={chosen} /> },
  journal: { show: () => <JournalPage /> },
  status: { show: () => <StatusPage /> },
  people: { show: () => <PeoplePage /> },
  evaluation: { show: () => <EvaluationPage /> },
}

export function App({ signInError }: { readonly signInError: Refusal | null }) {
  if (isSignedIn.value === null) return null
  return isSignedIn.value ? <SignedIn /> : <SignIn error={signInError} />
}

function SignedIn() {
  const name = path.value.split('/')[1] ?? ''
  const page = Object.hasOwn(pages, name) ? pages[name] : undefined
  useEffect(() => {
    const names = [subject.value, visiblePlaces().find(({ href }) => href === `/${name}`)?.name ?? null, 'Credence']
    document.title = names.filter((title) => title !== null).join(' – ')
  }, [name, subject.value])
  useEffect(() => {
    // Loads the code of the other pages after this one, so that they open at once, even offline.
    const fetchAll = () => Promise.all([memory(), secondary(), home()]).catch(() => undefined)
    const timer = setTimeout(fetchAll, 2_000)
    return () => clearTimeout(timer)
  }, [])
  useKeys({
    '?': { does: 'Show these shortcuts', onPress: openKeysHelp },
    ...Object.fromEntries(
      visiblePlaces().map(({ href, name: does }, index) => [index + 1, { does, onPress: () => navigate(href) }]),
    ),
  })
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar />
      <main class={page?.isFull === true ? 'page full' : 'page'} id="main" tabIndex={-1}>
        {health.value?.isDemo === true ? (
          <p class="note">
            This is a demo memory, which is deleted when the server stops. Create your own with{' '}
            <code>{commandLine('init')}</code>.
          </p>
        ) : null}
        {page === undefined ? (
          <NoSuchPage href="/beliefs" text="Go to the beliefs" />
        ) : (
          <Shown page={page} name={name} />
        )}
      </main>
      <LateSign />
      <ToastRegion />
      <KeysHelp />
      <Palette />
    </div>
  )
}

function Shown({ page, name }: { readonly page: Page; readonly name: string }) {
  if (path.value === `/${name}` || name === 'evaluation') return <>{page.show(null)}</>
  const chosen = page.hasItems === true ? match(`/${name}/:item`, path.value) : null
  return chosen?.item === undefined ? <NoSuchPage href="/beliefs" text="Go to the beliefs" /> : page.show(chosen.item)
}
