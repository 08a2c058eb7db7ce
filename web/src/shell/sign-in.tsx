import { useEffect, useState } from 'preact/hooks'
import type { Refusal } from '../api/client.ts'
import { resumeSession } from '../state/facts.ts'
import { FailedState, Refused } from '../ui/notice.tsx'
import { Logo } from './sidebar.tsx'

/** Shown to a browser that is not signed in. Explains how to get a login link. */
export function SignIn({ error: first }: { readonly error: Refusal | null }) {
  const [error, setError] = useState(first)
  const retry = () => void resumeSession().then(setError)
  // The link may have been opened in another window; then this one continues.
  useEffect(() => {
    window.addEventListener('focus', retry)
    return () => window.removeEventListener('focus', retry)
  }, [])
  useEffect(() => {
    document.title = 'Credence'
  }, [])
  return (
    <main class="sign-in">
      <div class="panel stack">
        <div class="brand">
          <Logo />
          <span>Credence</span>
        </div>
        {error?.status === 0 ? <FailedState error={error} retry={retry} /> : <HowToSignIn error={error} />}
      </div>
    </main>
  )
}

const HowToSignIn = ({ error }: { readonly error: Refusal | null }) => (
  <>
    <h1>Open your login link</h1>
    <Refused error={error} />
    <p>This memory is private, so you need the link that the server printed when it started. It looks like this:</p>
    <code class="command box">{window.location.origin}/#token=…</code>
    <p>Cannot find it? Stop the server and start it again in the terminal. It prints a link that works.</p>
    <p>Does the server belong to a team? Then the link ends with your own token.</p>
    <p class="soft small">
      You need the link only once in each browser. Its token is removed from the address bar immediately. Opening the
      link in another tab also signs in this one.
    </p>
  </>
)
