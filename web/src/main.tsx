import { render } from 'preact'
import { App } from './app.tsx'
import { codeOf } from './pages/page-chunks.ts'
import { signIn } from './state/facts.ts'

const root = document.getElementById('app')
if (root !== null) {
  // A link opened a second time in the same tab changes only the fragment, which loads nothing.
  window.addEventListener('hashchange', () => {
    if (window.location.hash.includes('token=')) window.location.reload()
  })
  // Asked at once, side by side: each takes a trip to the server.
  const [signInError] = await Promise.all([signIn(), codeOf(window.location.pathname)])
  render(<App signInError={signInError} />, root)
}
