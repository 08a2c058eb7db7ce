import { render } from 'preact'
import { App } from './app.tsx'
import { loadPageCode } from './pages/page-chunks.ts'
import { signIn } from './state/facts.ts'

const root = document.getElementById('app')
if (root !== null) {
  // Opening a login link again in this tab changes only the fragment, so the browser does not reload the page.
  window.addEventListener('hashchange', () => {
    if (window.location.hash.includes('token=')) window.location.reload()
  })
  // In parallel, because each takes a round trip to the server.
  const [signInError] = await Promise.all([signIn(), loadPageCode(window.location.pathname)])
  render(<App signInError={signInError} />, root)
}
