import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RouteAnswer } from '../../src/http/api/contract.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, missesNow, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('managing many beliefs', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    const memory = dashboard.memoryAs()
    for (const name of ['kite', 'anchor', 'zeppelin'])
      await memory.remember({ name, content: `What a ${name} is.`, type: 'entity', scopes: ['project:toys'] })
    await memory.hear([
      { text: 'The lighthouse is red.', at: '2026-02-01T10:00:00Z', session: 'coast' },
      { text: 'The lighthouse was painted white.', at: '2026-03-01T10:00:00Z', session: 'coast' },
      { text: 'A ferry leaves at nine.', at: '2026-02-02T10:00:00Z', session: 'ferry' },
    ])
    page = await dashboard.window('/beliefs')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const names = () => page.locator('.belief-row .belief-name .clip').allTextContents()
  const beliefs = (ids: readonly string[]) => Promise.all(ids.map((id) => dashboard.memoryAs().get(id)))

  it('sorts by name and groups by type, and the address contains both', async () => {
    await go(page, '/beliefs?scope=project:toys')
    await eventually(names).toEqual(['zeppelin', 'anchor', 'kite'])
    await page.getByLabel('Sort').selectOption('name')
    await eventually(names).toEqual(['anchor', 'kite', 'zeppelin'])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('name')

    await go(page, '/beliefs')
    await page.getByLabel('Group').selectOption('type')
    await page.locator('.group-title').first().waitFor()
    const titles = await page.locator('.group-title').allTextContents()
    expect(new Set(titles).size).toBe(titles.length)
    expect(titles.length).toBeGreaterThan(1)
    await page.getByLabel('Group').selectOption('scope')
    await page.locator('.group-title', { hasText: 'project:toys' }).waitFor()
    await page.getByLabel('Group').selectOption('none')
    await page.locator('.group-title').first().waitFor({ state: 'detached' })
  })

  it('stores a view in the browser, returns to it, and deletes it', async () => {
    await go(page, '/beliefs?scope=project:toys&sort=name')
    await eventually(names).toEqual(['anchor', 'kite', 'zeppelin'])
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.goto(`${dashboard.url}/beliefs`)
    await page.locator('.belief-row', { hasText: 'Redis' }).first().waitFor()
    await page.getByLabel('Saved view').selectOption({ label: 'project:toys · name' })
    await eventually(names).toEqual(['anchor', 'kite', 'zeppelin'])
    expect(new URL(page.url()).searchParams.get('scope')).toBe('project:toys')
    await page.getByRole('button', { name: 'Delete view' }).click()
    await page.getByLabel('Saved view').waitFor({ state: 'detached' })
  })

  it('adds an alias to many, moves them, and forgets them, and reports correctly what can be undone', async () => {
    await go(page, '/beliefs?scope=project:toys&sort=name')
    await eventually(names).toEqual(['anchor', 'kite', 'zeppelin'])
    const ids = await page
      .locator('.belief-row')
      .evaluateAll((rows) => rows.map((row) => String(row.getAttribute('data-id'))))
    const mark = async (...wanted: readonly string[]) => {
      await page.getByRole('button', { name: 'Select', exact: true }).click()
      for (const name of wanted) await page.getByLabel(`Select ${name}`, { exact: true }).check()
    }
    const bar = page.getByRole('toolbar', { name: 'Change the selected beliefs' })

    await mark('anchor', 'kite')
    await sees(bar, '2 selected')
    await bar.getByRole('button', { name: 'Alias' }).click()
    await page.getByRole('dialog').getByLabel('Alias for all of them').fill('plaything')
    await page.getByRole('dialog').getByRole('button', { name: 'Alias' }).click()
    await sees(page, 'Gave 2 beliefs the alias “plaything”. Undo each in the journal.')
    expect((await beliefs(ids)).map(({ aliases }) => aliases.includes('plaything'))).toEqual([true, true, false])

    await mark('anchor', 'zeppelin')
    await bar.getByRole('button', { name: 'Move' }).click()
    await page.getByRole('dialog').getByLabel('New scope').fill('project:harbour')
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click()
    await sees(page, 'Moved 2 beliefs to project:harbour.')
    await eventually(names).toEqual(['kite'])

    await go(page, '/beliefs?scope=project:harbour&sort=name')
    await eventually(names).toEqual(['anchor', 'zeppelin'])
    await mark('anchor', 'zeppelin')
    await bar.getByRole('button', { name: 'Forget' }).click()
    await sees(page.getByRole('dialog'), 'This cannot be undone.')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await sees(page, 'Forgot 2 beliefs. Their texts are erased.')
    await expect(dashboard.memoryAs().get(ids[0] as string)).rejects.toThrow()
    expect((await dashboard.memoryAs().get('kite')).scopes).toEqual(['project:toys'])
  })

  it('excludes later turns than a day, in the list and in the search', async () => {
    await go(page, '/conversations?q=lighthouse')
    await sees(page.locator('.found-turn'), 'painted')
    await page.getByLabel('As of').fill('2026-02-15')
    await missesNow(page.locator('.found-turn'), 'painted')
    await page.locator('.found-turn', { hasText: 'red' }).waitFor()
    await go(page, '/conversations?until=2026-02-01')
    await page.locator('.belief-link', { hasText: 'lighthouse' }).waitFor()
    expect(await page.locator('.belief-link', { hasText: 'ferry' }).count()).toBe(0)
  })

  it('shows the memory as of an earlier day, chosen with the slider, and keeps the day in the address', async () => {
    const past = { ...dashboard.server.ports, now: () => new Date(Date.now() - 40 * 86_400_000) }
    const author = { actor: 'person', origin: 'test' } as const
    const earlier = memoryFrom(past, {
      user: 'local',
      scopes: dashboard.server.served.view.scopes,
      agent: null,
      author,
    })
    await earlier.remember({ name: 'lighthouse', content: 'The lighthouse is red.' })
    await dashboard.memoryAs().correct('lighthouse', { content: 'The lighthouse is white.' })

    await go(page, '/growth')
    const panel = page.getByRole('region', { name: 'Memory as of a day' })
    const slider = panel.getByRole('slider', { name: 'Day' })
    const { counts } = (await dashboard.server.send<RouteAnswer<'health'>>('GET', '/api/v1/health')).body
    await sees(panel, new RegExp(`^${counts.current} current beliefs at the end of`))
    await panel.getByLabel('Search the beliefs of that day').fill('lighthouse')
    await sees(panel, 'The lighthouse is white.')
    const { beliefs } = (await dashboard.server.send<RouteAnswer<'growth'>>('GET', '/api/v1/growth')).body
    const [first] = beliefs

    await slider.focus()
    await page.keyboard.press('Home')
    await sees(panel, 'The lighthouse is red.')
    expect(await panel.getByText('The lighthouse is white.').count()).toBe(0)
    expect(new URL(page.url()).searchParams.get('day')).toBe(first?.day)
    await panel.getByLabel('Search the beliefs of that day').fill('')
    await sees(panel, /^1 current belief at the end of/)
    await page.reload()
    await page.getByRole('heading', { name: /^Memory as of/ }).waitFor()
    expect(await slider.getAttribute('aria-valuetext')).toContain(String(Number(first?.day.slice(8))))
  })

  it('forgets one turn of a conversation, and then all of it', async () => {
    const turns = async () => (await dashboard.memoryAs().turns({ session: 'coast' })).total
    await go(page, '/conversations/coast')
    const bubble = page.locator('.bubble', { hasText: 'painted white' })
    await bubble.hover()
    await bubble.getByRole('button', { name: /^Forget the message of/ }).click()
    const dialog = page.getByRole('dialog')
    await sees(dialog, '1 turn')
    await dialog.getByRole('button', { name: 'Forget', exact: true }).click()
    await bubble.waitFor({ state: 'detached' })
    await page.locator('.bubble', { hasText: 'The lighthouse is red.' }).waitFor()
    expect(await turns()).toBe(1)

    await page.getByRole('button', { name: 'Forget this conversation' }).click()
    await sees(dialog, 'The lighthouse is red.')
    await dialog.getByRole('button', { name: 'Forget', exact: true }).click()
    await eventually(() => new URL(page.url()).pathname).toBe('/conversations')
    expect(await turns()).toBe(0)
    expect((await dashboard.memoryAs().turns({ session: 'ferry' })).total).toBe(1)
  })
})
