// Runs before the first paint and long before the pages have been fetched.
{
  try {
    // A chosen theme must not flash in the other one.
    const chosen = localStorage.getItem('credence-theme')
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
  } catch {
    // Storage may be off; the system's preference holds then.
  }

  // The files of the page that the address names are fetched beside those of every page.
  const filesOf = document.currentScript.dataset
  const files = filesOf[location.pathname.split('/')[1] || 'home'] ?? filesOf.later ?? ''
  for (const href of files.split(' ').filter(Boolean)) {
    const link = document.createElement('link')
    Object.assign(link, { rel: 'modulepreload', crossOrigin: '', href })
    document.head.append(link)
  }

  // The token leaves the address before anything else, so that it stays in no history and on no screenshot.
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-credence': '1' }
  const body = JSON.stringify({ token })
  const login = token === null ? null : fetch('/api/v1/login', { method: 'POST', headers, body })

  // What the page will ask first, so that the answers come with its code.
  const questions = {
    '/': ['/beliefs?current=true&candidates=false&order=recalled&limit=40', '/growth', '/hosts', '/evals/standings'],
    '/beliefs': ['/beliefs?current=true&limit=50&offset=0'],
    '/evaluation': ['/evals/packs', '/evals/standings'],
  }
  const answers = login === null ? {} : { '/login': login }
  for (const url of ['/health', '/scopes', ...(questions[location.pathname + location.search] ?? [])])
    answers[url] = Promise.resolve(login).then(() => fetch(`/api/v1${url}`, { headers: { accept: headers.accept } }))
  // Whoever takes an answer says what went wrong with it.
  for (const answer of Object.values(answers)) answer.catch(() => undefined)
  globalThis.credenceStart = { token, answers }
}
