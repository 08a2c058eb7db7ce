import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RouteAnswer } from '../../src/http/api/contract.ts'
import { syncMirror } from '../../src/memory/mirror/sync.ts'
import { storeFile } from '../../src/open-memory.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('home, review, conversations, hosts and the palette', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    await dashboard.memoryAs().hear([
      {
        text: 'The staging certificate of billing runs out on 3 December.',
        at: '2026-03-01T10:00:00Z',
        session: 'certs',
      },
      { text: 'Noted.', role: 'assistant', at: '2026-03-01T10:01:00Z', session: 'certs' },
      {
        text: 'Remember that the payroll export is due before the 25th.',
        at: '2026-03-01T10:02:00Z',
        session: 'certs',
      },
      { text: 'The walrus costume is in the attic.', at: '2026-02-01T10:00:00Z', session: 'attic' },
    ])
    page = await dashboard.window('/')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const api = async <Body>(path: string): Promise<Body> =>
    (await dashboard.server.send<Body>('GET', `/api/v1${path}`)).body
  const command = async <Document>(...argv: readonly string[]): Promise<Document> => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      'bin/credence.js',
      ...argv,
      '--json',
      '--dir',
      dashboard.server.dir,
    ])
    return JSON.parse(stdout)
  }

  it('introduces the product, and immediately shows the context of an agent', async () => {
    await sees(page, 'Credence remembers what you tell your AI agents')
    const always = page.getByRole('region', { name: 'Always given' })
    await sees(always, 'Prefers short answers with the command first')
    await sees(always, 'money: Amounts are whole cents')
    await eventually(() => page.locator('.example').count()).toBe(3)
    await page.locator('.example').first().click()
    await page.locator('.given li').first().waitFor()
    await sees(page.locator('.given'), /You wrote “.+”, which is its name/)
    await page.getByLabel('Message').fill('xylophone quorum')
    await sees(page, 'Recall does not guess.')
    // A pinned question that the message names is shown once, with both reasons.
    await page.getByLabel('Message').fill('which queue do we take?')
    await sees(page.locator('.given'), /You wrote “which queue”, which is its name.*It is pinned/)
    expect(await always.getByText('which queue').count()).toBe(0)
    await page.getByLabel('Message').fill('')
  })

  it('counts waiting decisions on Home, including edits of MEMORY.md', async () => {
    const { dir, ports } = dashboard.server
    const waiting = (name: string) =>
      page
        .getByRole('region', { name: 'Waiting for you' })
        .locator('li', { hasText: name })
        .locator('.number')
        .textContent()
    const { counts } = await api<RouteAnswer<'health'>>('/health')
    await go(page, '/')
    await eventually(() => waiting('Proposed changes')).toBe(String(counts.proposals))
    await eventually(() => waiting('New statements')).toBe(String(counts.candidates))

    const file = join(dir, 'MEMORY.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('on port 6380', 'on port 6390'))
    await dashboard.memoryAs().correct('Redis', { content: 'Sessions are cached in Redis on port 6400.' })
    await syncMirror(ports, { dir, user: 'local' })

    await go(page, '/review')
    const card = page.locator('.review-card', { hasText: 'An edit of MEMORY.md proposed this' })
    await card.locator('ins', { hasText: '6390' }).waitFor()
    await go(page, '/')
    await eventually(() => waiting('Proposed changes')).toBe(String(counts.proposals + 1))
    const names = page.getByRole('region', { name: 'Waiting for you' }).locator('li')
    expect(await names.filter({ hasText: 'not merged' }).count()).toBe(0)
  })

  it('counts unmerged saves of MEMORY.md on Home, and Status names their files', async () => {
    const { dir } = dashboard.server
    const files = ['MEMORY.conflict-1.md', 'MEMORY.conflict-2.md'].map((name) => join(dir, name))
    const line = page.getByRole('region', { name: 'Waiting for you' }).locator('li', { hasText: 'not merged' })
    for (const file of files) writeFileSync(file, 'A line that another program saved.\n')

    await go(page, '/review')
    await go(page, '/')
    await eventually(() => line.locator('.number').textContent()).toBe('2')
    await line.getByRole('link', { name: 'Saves of MEMORY.md that were not merged' }).click()
    await sees(page.getByRole('region', { name: 'MEMORY.md' }), /MEMORY\.conflict-1\.md/)

    for (const file of files) rmSync(file)
    await go(page, '/')
    await line.waitFor({ state: 'detached' })
  })

  it('labels a demo as one, and reports no regression until there is one', async () => {
    const banner = page.locator('main > .note')
    await banner.waitFor()
    const text = await banner.textContent()
    expect(text).toContain('This is a demo memory, which is deleted when the server stops.')
    expect(text).not.toMatch(/regression|invented-memory/)
  })

  it('shows the same numbers as the API and the command line', async () => {
    const said = await command<{ proposals: number }>('status')
    // The server limits how often it counts, so its counts may be outdated for a moment.
    await eventually(async () => (await api<RouteAnswer<'health'>>('/health')).counts.proposals).toBe(said.proposals)
    const { counts } = await api<RouteAnswer<'health'>>('/health')
    const listed = await command<{ total: number }>('beliefs')
    expect(listed.total).toBe(counts.current)
    await go(page, '/')
    const figure = page.getByRole('region', { name: 'Today' }).locator('div', { hasText: 'Current beliefs' }).last()
    await eventually(() => figure.locator('dd').textContent()).toBe(String(counts.current))
    await go(page, '/beliefs')
    await sees(page, `${counts.current} beliefs`)
    await go(page, '/health')
    await eventually(() =>
      page.locator('.figures div', { hasText: 'Current beliefs' }).locator('dd').first().textContent(),
    ).toBe(String(counts.current))
    const waiting = await api<{ total: number }>('/review')
    expect(waiting.total).toBe(counts.proposals + counts.candidates)
    await page.locator('.side-link', { hasText: 'Review' }).getByText(String(waiting.total), { exact: true }).waitFor()
  })

  it('shows the same conversations, recalls, runs and changes on every page as the API and the command line', async () => {
    await dashboard.server.evaluate('session-drift', 'counted-run')
    const { items: talks } = await command<{ items: readonly { turns: number }[] }>('conversations')
    expect((await api<{ total: number }>('/conversations?limit=1')).total).toBe(talks.length)
    const { records } = await api<RouteAnswer<'shadow'>>('/evals/shadow')
    // Recalls are counted shortly after the answer. Both numbers cover the same recalls.
    await eventually(async () =>
      (await api<RouteAnswer<'growth'>>('/growth')).recalls.reduce((sum, day) => sum + day.recalls, 0),
    ).toBe(records)
    const { journalHead } = await api<{ journalHead: number }>('/health')
    const { events } = await command<{ events: readonly { number: number }[] }>('history', '--limit', '1')

    await go(page, '/conversations')
    await eventually(() => page.locator('.talks .belief-row').count()).toBe(talks.length)
    const shownTurns = await page.locator('.talks .belief-meta > span:first-child').allTextContents()
    expect(shownTurns.map((text) => Number.parseInt(text, 10))).toEqual(talks.map(({ turns }) => turns))

    await go(page, '/growth')
    const plotted = (title: string) =>
      page.locator('.plot', { hasText: title }).locator('.plot-value').first().textContent()
    await eventually(() => plotted('Recalls by day')).toBe(String(records))
    await go(page, '/evaluation/live')
    await eventually(() => plotted('Recalls')).toBe(String(records))

    await go(page, '/evaluation/runs/counted-run')
    const { run } = await api<RouteAnswer<'run'>>('/evals/runs/counted-run')
    const figure = page.locator('.figures div', { hasText: 'Cases passed' })
    await sees(figure, String(run.passedCases))
    await sees(figure, `of ${run.totalCases}`)
    await go(page, '/evaluation')
    await sees(page.locator('.pack-row', { hasText: 'Session drift' }), `of ${run.totalCases} cases passed`)
    await go(page, '/journal')
    await page.locator('.journal-row').first().getByText(String(events[0]?.number), { exact: true }).waitFor()
    await go(page, '/health')
    await page
      .locator('.facts div, dl div', { hasText: 'Latest change' })
      .getByText(String(journalHead), { exact: true })
      .waitFor()
  })

  it('opens Health without writing anything', async () => {
    const head = async () => (await api<{ journalHead: number }>('/health')).journalHead
    const before = await head()
    await go(page, '/health')
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.locator('.finding').first().waitFor()
    expect(await head()).toBe(before)
  })

  it('compares a proposal with the current belief, and accepts it over that', async () => {
    const memory = dashboard.memoryAs()
    const agent = dashboard.memoryAs({ actor: 'agent', origin: 'some-agent' })
    await memory.remember({ name: 'moon base', content: 'Opens in 2031.', scopes: ['project:ledger'] })
    await agent.remember({ name: 'moon base', content: 'Opens in 2033.', scopes: ['project:ledger'] })
    await memory.correct('moon base', { content: 'Opens in 2032.', aliases: ['lunar base'] })
    await go(page, '/review')
    const card = page.locator('.review-card', { hasText: 'moon base' })
    await sees(card, 'The comparison is with the current text.')
    await card.locator('del', { hasText: '2032' }).waitFor()
    await card.locator('ins', { hasText: '2033' }).waitFor()
    expect(await card.textContent()).not.toContain('2031')
    await card.getByRole('button', { name: 'Accept' }).click()
    await card.waitFor({ state: 'detached' })
    const held = await memory.get('moon base')
    expect(held.content).toBe('Opens in 2033.')
    expect(held.aliases).toContain('lunar base')
  })

  it('names the author of a new statement', async () => {
    const agent = dashboard.memoryAs({ actor: 'agent', origin: 'some-agent' })
    const tea = { name: 'tea', content: 'Prefers tea.', type: 'preference', scopes: ['user:universal'] } as const
    const { belief } = await agent.remember(tea)
    await go(page, `/beliefs/${belief.id}`)
    await sees(page.getByRole('region', { name: 'Candidate' }), /^The agent some-agent wants this to be remembered\./)
    await page.getByRole('button', { name: 'Reject' }).click()
    await sees(page, 'Rejected “tea”.')
  })

  it('decides by keys, and many at once', async () => {
    const agent = dashboard.memoryAs({ actor: 'agent', origin: 'some-agent' })
    const memory = dashboard.memoryAs()
    for (const name of ['comet one', 'comet two', 'comet three']) {
      await memory.remember({ name, content: 'It returns.', scopes: ['project:ledger'] })
      await agent.remember({ name, content: 'It does not return.', scopes: ['project:ledger'] })
    }
    await go(page, '/review')
    await page.locator('.review-card', { hasText: 'comet three' }).waitFor()
    await page.locator('.review-card.here', { hasText: 'comet three' }).waitFor()
    await page.keyboard.press('r')
    await page.locator('.review-card', { hasText: 'comet three' }).waitFor({ state: 'detached' })
    expect((await memory.get('comet three')).content).toBe('It returns.')
    for (const name of ['comet one', 'comet two']) await page.getByLabel(`Select ${name}`).check()
    await page.getByRole('button', { name: 'Accept selected' }).click()
    await sees(page, '2 decisions made.')
    expect((await memory.get('comet one')).content).toBe('It does not return.')
  })

  it('shows a conversation as a chat, marks statements that became beliefs, and finds words in it', async () => {
    await go(page, '/conversations')
    await page.locator('.belief-link', { hasText: 'The staging certificate' }).click()
    await page.locator('.bubble.assistant', { hasText: 'Noted.' }).waitFor()
    await page.locator('.bubble', { hasText: 'payroll' }).getByText('Became').waitFor()
    // A statement that waits for a decision is not shown as a belief.
    const text = 'I prefer tabs over spaces.'
    await dashboard.memoryAs().hear([{ text, session: 'waiting' }], { learn: 'review' })
    await go(page, '/conversations/waiting')
    await sees(page.locator('.bubble', { hasText: text }), 'Waits for your decision:')
    await go(page, '/conversations/certs')
    await page.getByLabel('Search conversations').fill('when does the certificate of billing run out')
    const hit = page.locator('.found-turn').first()
    await hit.locator('mark').first().waitFor()
    await hit.getByRole('button', { name: /Show the messages around/ }).click()
    await sees(hit, 'Noted.')
    await hit.locator('.belief-link').click()
    await page.locator('.bubble.here', { hasText: 'certificate' }).waitFor()
    // A message without any of the words is shown with a reason.
    await page.getByLabel('Search conversations').fill('payroll')
    await page.locator('.found-turn mark', { hasText: 'payroll' }).waitFor()
    await sees(page.locator('.found-turn', { hasText: 'Noted.' }), 'A message next to it contains these words.')
  })

  it('shows code of a message as code, and its text as text', async () => {
    const text = 'Restart it so:\n\n```sh\nmake <b>restart</b>\n  --now\n```\nThen look.'
    await dashboard.memoryAs().hear([{ text, session: 'coded', role: 'assistant' }])
    await go(page, '/conversations/coded')
    const bubble = page.locator('.bubble.assistant')
    expect(await bubble.locator('pre').textContent()).toBe('make <b>restart</b>\n  --now')
    expect(await bubble.locator('p.prose').allTextContents()).toEqual(['Restart it so:', 'Then look.'])
  })

  it('shows what would be forgotten before it forgets, including beliefs', async () => {
    await dashboard.memoryAs().remember({ name: 'tusks', content: 'A walrus never forgets.' })
    await go(page, '/conversations')
    await page.getByRole('button', { name: 'Forget…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Everything that contains these words').fill('walrus')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await sees(dialog, '1 turn')
    await sees(dialog, 'The walrus costume is in the attic.')
    await sees(dialog, 'A walrus never forgets.')
    expect((await dashboard.memoryAs().turns({ containing: 'walrus' })).total).toBe(1)
    await dialog.getByRole('button', { name: 'Forget', exact: true }).click()
    await sees(page, 'Forgotten: 1 turn and 1 belief.')
    expect((await dashboard.memoryAs().turns({ containing: 'walrus' })).total).toBe(0)
  })

  it('counts live recalls, shows them by belief, and finds beliefs that were never recalled', async () => {
    const { agent } = dashboard.server.served.memories
    const { id } = await dashboard.memoryAs().get('Redis')
    const counted = async () =>
      (await api<{ recalled: { count: number } | null }>(`/beliefs/${id}/links`)).recalled?.count ?? 0
    await dashboard.server.ports.counter?.flush()
    const before = await counted()
    await agent.recall('Where is Redis?')
    await dashboard.server.ports.counter?.flush()
    expect(await counted()).toBe(before + 1)
    await go(page, `/beliefs/${id}`)
    await sees(page, new RegExp(`${before + 1} times?, last`))
    await go(page, '/beliefs?recalled=never')
    await page.locator('.belief-row').first().waitFor()
    // The previous rows are shown until the new ones are loaded.
    await page.locator('.belief-row', { hasText: 'Redis' }).waitFor({ state: 'detached' })
    const events = await dashboard.memoryAs().events({ limit: 1, hearing: true })
    await agent.recall('Where is Redis?')
    await dashboard.server.ports.counter?.flush()
    expect(await dashboard.memoryAs().events({ limit: 1, hearing: true })).toEqual(events)
  })

  it('lists the same hosts as the command line', async () => {
    const inTheirPlace = async (...argv: readonly string[]): Promise<unknown> => {
      const {
        program: { machine },
        places: { workingDirectory },
      } = dashboard.server.session
      const { stdout } = await promisify(execFile)(process.execPath, [resolve('bin/credence.js'), ...argv, '--json'], {
        env: { PATH: process.env.PATH, HOME: machine.home, XDG_CACHE_HOME: machine.env.XDG_CACHE_HOME },
        cwd: workingDirectory(),
      })
      return JSON.parse(stdout)
    }
    await inTheirPlace('connect', 'cursor', '--user', '--yes')

    const { hosts } = (await inTheirPlace('connect', '--status')) as { hosts: readonly Record<string, unknown>[] }
    const { items } = await api<{ items: readonly Record<string, unknown>[] }>('/hosts')
    await go(page, '/hosts')
    await page.locator('.host-row').first().waitFor()

    const withoutFiles = ({ files: _files, ...status }: Record<string, unknown>) => status
    expect(items.map(withoutFiles)).toEqual(hosts.map(withoutFiles))
    expect(hosts.filter(({ connected }) => connected === 'yes').map(({ host }) => host)).toEqual(['cursor'])
    // The page lists connected programs first.
    const connectedFirst = [
      ...hosts.filter(({ connected }) => connected !== 'no'),
      ...hosts.filter(({ connected }) => connected === 'no'),
    ]
    const words: Record<string, string> = { yes: 'connected', partly: 'partly connected', no: 'not connected' }
    expect(await page.locator('.host-row .badge').allTextContents()).toEqual(
      connectedFirst.map(({ connected }) => words[String(connected)]),
    )
    expect(await page.locator('.host-row b').first().textContent()).toBe('Cursor')
  })

  it('opens any page by its name', async () => {
    await go(page, '/journal')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Page, belief' })
    await field.fill('redis')
    await page.getByRole('option', { name: /Redis/ }).first().waitFor()
    await page.getByRole('option', { name: /Sessions are cached/ }).click()
    await page.getByRole('heading', { name: 'Redis', level: 2 }).waitFor()
    await page.keyboard.press('Control+k')
    await field.fill('status')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Status' }).waitFor()
  })

  it('shows the effect of a change, and changes of one kind only', async () => {
    await go(page, '/journal?kind=correct')
    const row = page.locator('.journal-row', { hasText: 'moon base' }).first()
    await row.getByText('What changed').click()
    await row.locator('ins', { hasText: '2032' }).first().waitFor()
    expect(await page.locator('.journal-row .badge', { hasText: 'remember' }).count()).toBe(0)
  })

  it('reports that it waits while another process has locked the store, and continues afterwards', {
    timeout: 180_000,
  }, async () => {
    await using served = await program('dashboard-program.ts', dashboard.webDirectory)
    const { url, dir } = JSON.parse(served.said)
    const window = await dashboard.window('/beliefs', { at: url })
    await using _context = window.context()
    await window.locator('.belief-row', { hasText: 'Redis' }).first().click()
    await window.locator('.content').waitFor()
    await window.locator('.late .toast').waitFor({ state: 'detached' })

    {
      await using _lock = await program('lock-program.ts', storeFile(dir))
      await window.keyboard.press('e')
      await window.getByLabel('Why it matters').fill('written while the store was locked')
      await window.keyboard.press('Control+Enter')
      await window.locator('.late', { hasText: 'Waiting for the memory' }).waitFor()
      expect(await window.locator('.detail .prose', { hasText: 'written while' }).count()).toBe(0)
      // The store is locked until the end of this block, but the server still answers reads.
      const other = await dashboard.window('/journal', { at: url })
      await using _other = other.context()
      await other.locator('.journal-row').first().waitFor()
      await go(other, '/recall')
      await other.getByRole('textbox', { name: 'Message' }).fill('Is Redis on port 6379?')
      await sees(other, /You wrote “Redis”, which is its name/)
      await window.locator('.late', { hasText: 'Waiting for the memory' }).waitFor()
    }

    await window.locator('.detail .prose', { hasText: 'written while the store was locked' }).waitFor()
    await window.locator('.late .toast').waitFor({ state: 'detached' })
  })

  it('shows that it waits within 200 ms of an action without an answer', async () => {
    const window = await dashboard.window('/beliefs')
    await window.locator('.belief-row', { hasText: 'Redis' }).first().click()
    await window.locator('.content').waitFor()
    await window.waitForLoadState('networkidle')
    let answer = () => {}
    await window.route('**/api/v1/beliefs/*', (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      answer = () => void route.continue()
    })
    // A fake clock in the page, so that the speed of the machine does not matter.
    await window.clock.install()
    await window.clock.pauseAt(Date.now() + 1_000)
    await window.keyboard.press('p')
    await window.clock.runFor(200)
    await window.locator('.late', { hasText: 'Waiting for the memory' }).waitFor()
    await window.clock.resume()
    answer()
    await window.locator('.late .toast').waitFor({ state: 'detached' })
    await window.context().close()
  })

  it.each(['/', '/beliefs', '/evaluation'])(
    'preloads only data that %s uses, and requests nothing twice',
    async (path) => {
      const window = await dashboard.stranger()
      const asked: string[] = []
      window.on('request', (request) => {
        if (request.url().includes('/api/v1/') && !request.url().endsWith('/events')) asked.push(request.url())
      })
      await window.goto(dashboard.link.replace('/#', `${path}#`))
      await window.locator('.shell').waitFor()
      await eventually(() => window.evaluate('Object.keys(credenceStart.answers)')).toEqual([])
      await window.waitForLoadState('networkidle')
      expect(new Set(asked).size).toBe(asked.length)
      await window.context().close()
    },
  )

  it('loads in less than 91 KB, compressed', async () => {
    const sizes: number[] = []
    const window = await dashboard.stranger()
    window.on('response', async (response) => {
      if (!response.url().includes('/api/')) sizes.push((await response.request().sizes()).responseBodySize)
    })
    await window.goto(dashboard.link)
    await window.locator('.shell').waitFor()
    await window.waitForLoadState('networkidle')
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(91_000)
    await window.context().close()
  })

  it('returns to the position in the list, at 360 pixels', async () => {
    const memory = dashboard.memoryAs()
    for (let at = 0; at < 30; at += 1) await memory.remember({ name: `row ${at}`, content: 'One of many.' })
    const narrow = await dashboard.window('/beliefs', { viewport: { width: 360, height: 740 } })
    const row = narrow.locator('.belief-row').nth(20)
    await row.scrollIntoViewIfNeeded()
    const left = await narrow.evaluate<number>('scrollY')
    expect(left).toBeGreaterThan(300)
    await row.locator('a').click()
    await narrow.getByRole('button', { name: 'All beliefs' }).click()
    await eventually(() => narrow.evaluate<number>('Math.round(scrollY)')).toBe(Math.round(left))
    await narrow.context().close()
  })
})

/** Starts a program of this folder in a separate process and waits for its first line. It ends when its input ends. */
async function program(name: string, ...argv: readonly string[]) {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, [file, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [said] = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    ended.then(([code]) => Promise.reject(new Error(`${name} ended with ${code}.`))),
  ])
  return {
    said: String(said),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await ended
    },
  }
}
