import { render } from 'preact'
import { App } from './app.tsx'
import { keepFocus } from './navigation/kept-focus.ts'
import { signIn } from './state/session.ts'

const root = document.getElementById('app')
if (root !== null) {
  // A link opened a second time in the same tab changes only the fragment, which loads nothing.
  window.addEventListener('hashchange', () => {
    if (window.location.hash.includes('token=')) window.location.reload()
  })
  keepFocus(root)
  const signInError = await signIn()
  render(<App signInError={signInError} />, root)
}
