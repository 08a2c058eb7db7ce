import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { isSignedIn, type Refusal, whenQuiet } from './api/client.ts'
import { useKeys } from './navigation/keys.ts'
import { match } from './navigation/match.ts'
import { Link, navigate, path } from './navigation/router.tsx'
import { home, memory, secondary } from './pages/page-chunks.ts'
import { isKeysHelpOpen, KeysHelp, Palette, places } from './shell/palette.tsx'
import { Sidebar } from './shell/sidebar.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { commandLine, health } from './state/facts.ts'
import { subject } from './state/window.ts'
import { EmptyState, LateSign, lazy, ToastRegion } from './ui/notice.tsx'

type Page = { readonly name: string; readonly title: string; readonly show: (given: string) => ComponentChild | null }

const HomePage = lazy(async () => (await home()).HomePage)
const RecallPage = lazy(async () => (await memory()).RecallPage)
const BeliefsPage = lazy(async () => (await memory()).BeliefsPage)
const EvaluationPage = lazy(async () => (await secondary()).EvaluationPage)
const ConversationsPage = lazy(async () => (await secondary()).ConversationsPage)
const ReviewPage = lazy(async () => (await secondary()).ReviewPage)
const GrowthPage = lazy(async () => (await secondary()).GrowthPage)
const JournalPage = lazy(async () => (await secondary()).JournalPage)
const HealthPage = lazy(async () => (await secondary()).HealthPage)
const HostsPage = lazy(async () => (await secondary()).HostsPage)
const PeoplePage = lazy(async () => (await secondary()).PeoplePage)

const pages: readonly Page[] = [
  { name: '', title: 'Home', show: (given) => (given === '/' ? <HomePage /> : null) },
  { name: 'recall', title: 'Recall', show: (given) => (given === '/recall' ? <RecallPage /> : null) },
  {
    name: 'beliefs',
    title: 'Beliefs',
    show: (given) => {
      const chosen = match('/beliefs/:id', given)
      return chosen !== null || given === '/beliefs' ? <BeliefsPage chosen={chosen?.id ?? null} /> : null
    },
  },
  { name: 'review', title: 'Review', show: (given) => (given === '/review' ? <ReviewPage /> : null) },
  {
    name: 'conversations',
    title: 'Conversations',
    show: (given) => {
      const chosen = match('/conversations/:session', given)
      return chosen !== null || given === '/conversations' ? (
        <ConversationsPage chosen={chosen?.session ?? null} />
      ) : null
    },
  },
  {
    name: 'evaluation',
    title: 'Evaluation',
    show: (given) => (given === '/evaluation' || given.startsWith('/evaluation/') ? <EvaluationPage /> : null),
  },
  { name: 'growth', title: 'Over time', show: (given) => (given === '/growth' ? <GrowthPage /> : null) },
  { name: 'journal', title: 'Journal', show: (given) => (given === '/journal' ? <JournalPage /> : null) },
  { name: 'hosts', title: 'Hosts', show: (given) => (given === '/hosts' ? <HostsPage /> : null) },
  { name: 'health', title: 'Health', show: (given) => (given === '/health' ? <HealthPage /> : null) },
  { name: 'people', title: 'People', show: (given) => (given === '/people' ? <PeoplePage /> : null) },
]

export function App({ signInError }: { readonly signInError: Refusal | null }) {
  if (isSignedIn.value === null) return null
  if (!isSignedIn.value) return <SignIn error={signInError} />
  return <SignedIn />
}

function SignedIn() {
  const page = pages.find(({ name }) => path.value.split('/')[1] === name)
  const name = page?.name ?? ''
  useEffect(() => {
    const names = [subject.value, page?.title ?? null, 'Credence']
    document.title = names.filter((one) => one !== null).join(' – ')
  }, [name, subject.value])
  useEffect(() => {
    // Fetched while nobody waits for it, so that the other pages open at once, and when the server is gone.
    const fetchThem = () =>
      void whenQuiet()
        .then(() => Promise.all([memory(), secondary(), home()]))
        .catch(() => undefined)
    const timer = setTimeout(fetchThem, 300)
    return () => clearTimeout(timer)
  }, [])
  useKeys({
    '?': {
      does: 'Show these shortcuts',
      act: () => {
        isKeysHelpOpen.value = true
      },
    },
    ...Object.fromEntries(
      // There are ten digits.
      places()
        .slice(0, 10)
        .map(({ href, name: does }, index) => [(index + 1) % 10, { does, act: () => navigate(href) }]),
    ),
  })
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar />
      <main class={`page page-${name === '' ? 'home' : name}`} id="main" tabIndex={-1}>
        <DemoNote />
        {page?.show(path.value) ?? <NoSuchPage />}
      </main>
      <LateSign />
      <ToastRegion />
      <KeysHelp />
      <Palette />
    </div>
  )
}

function DemoNote() {
  if (health.value?.isDemo !== true) return null
  return (
    <p class="demo-note">
      This is a demo memory, with a made-up regression of a system called example-memory. It is deleted when the server
      stops. Create your own with <code>{commandLine('init')}</code>.
    </p>
  )
}

function NoSuchPage() {
  return (
    <div class="panel">
      <EmptyState icon="question" title="There is no such page">
        <Link href="/beliefs">Go to the beliefs</Link>
      </EmptyState>
    </div>
  )
}
