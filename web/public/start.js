// Runs before the first paint, while the code of the pages is still loading.
{
  try {
    // Sets the chosen theme before the first paint, so that the page does not flash in the other one.
    const chosen = localStorage.getItem('credence-theme')
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
  } catch {
    // The browser may forbid storage; then the system's preference applies.
  }

  // Preloads the files of the current page in parallel with the files of every page.
  const filesOf = document.currentScript.dataset
  const files = filesOf[location.pathname.split('/')[1] || 'home'] ?? filesOf.later ?? ''
  for (const href of files.split(' ').filter(Boolean)) {
    const link = document.createElement('link')
    Object.assign(link, { rel: 'modulepreload', crossOrigin: '', href })
    document.head.append(link)
  }

  // Removes the token from the address first, so that it appears in no history and no screenshot.
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-credence': '1' }
  const body = JSON.stringify({ token })
  const login = token === null ? null : fetch('/api/v1/login', { method: 'POST', headers, body })

  // Sends the first requests of the page early, so that the answers arrive together with its code.
  const questions = {
    '/': ['/beliefs?current=true&candidates=false&order=recalled&limit=40', '/growth', '/hosts', '/evals/standings'],
    '/beliefs': ['/beliefs?current=true&limit=50&offset=0'],
    '/evaluation': ['/evals/packs', '/evals/standings'],
  }
  const answers = login === null ? {} : { '/login': login }
  for (const url of ['/health', '/scopes', ...(questions[location.pathname + location.search] ?? [])])
    answers[url] = Promise.resolve(login).then(() => fetch(`/api/v1${url}`, { headers: { accept: headers.accept } }))
  // The code that uses an answer reports its error.
  for (const answer of Object.values(answers)) answer.catch(() => undefined)
  globalThis.credenceStart = { token, answers }
}
