import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { isSignedIn } from './api/client.ts'
import type { Refusal } from './api/refusal.ts'
import { useKeys } from './navigation/keys.ts'
import { Link } from './navigation/link.tsx'
import { match } from './navigation/match.ts'
import { navigate, path } from './navigation/router.ts'
import { BeliefsPage } from './pages/beliefs/beliefs-page.tsx'
import { EvaluationPage } from './pages/evaluation/evaluation-page.tsx'
import { HealthPage } from './pages/health/health-page.tsx'
import { JournalPage } from './pages/journal/journal-page.tsx'
import { RecallPage } from './pages/recall/recall-page.tsx'
import { isKeysHelpOpen, KeysHelp } from './shell/keys-help.tsx'
import { Sidebar } from './shell/sidebar.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { health } from './state/memory-facts.ts'
import { subject } from './state/subject.ts'
import { EmptyState } from './ui/notice.tsx'
import { ToastRegion } from './ui/toast-region.tsx'

type Page = { readonly name: string; readonly title: string; readonly show: (given: string) => ComponentChild | null }

const pages: readonly Page[] = [
  {
    name: 'beliefs',
    title: 'Beliefs',
    show: (given) => {
      const chosen = match('/beliefs/:id', given)
      return chosen !== null || given === '/beliefs' ? <BeliefsPage chosen={chosen?.id ?? null} /> : null
    },
  },
  { name: 'recall', title: 'Recall', show: (given) => (given === '/recall' ? <RecallPage /> : null) },
  {
    name: 'evaluation',
    title: 'Evaluation',
    show: (given) => (given === '/evaluation' || given.startsWith('/evaluation/') ? <EvaluationPage /> : null),
  },
  { name: 'journal', title: 'Journal', show: (given) => (given === '/journal' ? <JournalPage /> : null) },
  { name: 'health', title: 'Health', show: (given) => (given === '/health' ? <HealthPage /> : null) },
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
    if (path.peek() === '/') navigate('/beliefs', { replace: true })
  }, [])
  useEffect(() => {
    const names = [subject.value, page?.title ?? null, 'Credence']
    document.title = names.filter((one) => one !== null).join(' – ')
  }, [name, subject.value])
  useKeys({
    '?': {
      does: 'Show these shortcuts',
      act: () => {
        isKeysHelpOpen.value = true
      },
    },
    1: { does: 'Beliefs', act: () => navigate('/beliefs') },
    2: { does: 'Recall', act: () => navigate('/recall') },
    3: { does: 'Evaluation', act: () => navigate('/evaluation') },
    4: { does: 'Journal', act: () => navigate('/journal') },
    5: { does: 'Health', act: () => navigate('/health') },
  })
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar />
      <main class={`page page-${name}`} id="main" tabIndex={-1}>
        <DemoNote />
        {page?.show(path.value) ?? <NoSuchPage />}
      </main>
      <ToastRegion />
      <KeysHelp />
    </div>
  )
}

function DemoNote() {
  if (health.value?.isDemo !== true) return null
  return (
    <p class="demo-note">
      This is a demonstration memory. It is gone when the server ends. Run <code>credence init</code> to begin your own.
    </p>
  )
}

function NoSuchPage() {
  if (path.value === '/') return null
  return (
    <div class="panel">
      <EmptyState icon="question" title="There is no such page">
        <Link href="/beliefs">Go to the beliefs</Link>
      </EmptyState>
    </div>
  )
}
