import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { syncMirror } from '../../src/memory/mirror/sync.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, missesNow, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the page of beliefs', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    page = await dashboard.window()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const idOf = async (name: string): Promise<string> => (await dashboard.memoryAs().get(name)).id
  const remembered = async (name: string, more: object = {}): Promise<string> => {
    const { belief } = await dashboard.memoryAs().remember({ name, content: `What ${name} is.`, ...more })
    return belief.id
  }

  it('finds beliefs by words and filters, and suggests the next step if none matches', async () => {
    await go(page, '/beliefs')
    const rows = page.locator('.belief-row')
    await sees(page, 'The ledger is kept in Postgres 17.')

    await page.keyboard.press('/')
    await page.keyboard.type('postgres')
    await page.locator('mark', { hasText: 'Postgres' }).first().waitFor()
    await missesNow(page.locator('.belief-rows'), 'payment terms')
    await eventually(() => new URL(page.url()).search).toBe('?q=postgres')

    await page.getByLabel('Type').selectOption('open_question')
    await missesNow(page.locator('.belief-rows'), 'The ledger is kept in Postgres 17.')
    await eventually(() => rows.count()).toBe(1)

    await page.getByLabel('Pinned').uncheck()
    await page.getByLabel('Search beliefs').fill('nothing has these words')
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await sees(page, 'The ledger is kept in Postgres 17.')

    await page.getByLabel('Scope').selectOption('project:website')
    await missesNow(page.locator('.belief-rows'), 'Redis')
    await eventually(() => rows.count()).toBe(1)
    await page.getByLabel('Scope').selectOption('')
    await page.getByLabel('Status').selectOption('retired')
    await page.locator('.belief-row .badge', { hasText: 'superseded' }).first().waitFor()
    await page.getByLabel('Status').selectOption('current')
    await page.getByLabel('Pinned').check()
    await page.locator('.belief-row', { hasText: 'money' }).waitFor()
  })

  it('moves through the list by keyboard, and shows the available keys', async () => {
    await go(page, '/beliefs')
    await sees(page, 'Redis')
    const names = await page.locator('.belief-name .clip').allTextContents()

    await page.keyboard.press('j')
    await page.getByRole('heading', { level: 2, name: names[0] as string, exact: true }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { level: 2, name: names[1] as string, exact: true }).waitFor()
    await page.keyboard.press('k')
    await page.getByRole('heading', { level: 2, name: names[0] as string, exact: true }).waitFor()
    expect(await page.locator('.belief-link[aria-current=true]').count()).toBe(1)

    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByText('Edit the why').waitFor()
    expect((await help.locator('dt').allTextContents()).slice(0, 9)).toEqual([...'123456789'])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await sees(page, 'Choose a belief')
  })

  it('edits the why from the keyboard, and undoes it', async () => {
    const id = await remembered('edited why', { why: 'the first why' })
    await go(page, `/beliefs/${id}`)
    await sees(page, 'the first why')

    await page.keyboard.press('e')
    await page.getByLabel('Why it matters').fill('the second why')
    await page.keyboard.press('Control+Enter')
    await page.locator('.detail .prose', { hasText: 'the second why' }).waitFor()
    expect((await dashboard.memoryAs().get(id)).why).toBe('the second why')

    await page.locator('.toast', { hasText: 'Why changed.' }).getByRole('button', { name: 'Undo' }).click()
    await page.locator('.detail .prose', { hasText: 'the first why' }).waitFor()
    expect((await dashboard.memoryAs().get(id)).why).toBe('the first why')

    await page.keyboard.press('e')
    await page.getByLabel('Why it matters').fill('thrown away')
    await page.keyboard.press('Escape')
    await sees(page, 'the first why')
  })

  it('pins, confirms, and changes aliases and scopes, with an error for each invalid input', async () => {
    const id = await remembered('handled thing', { aliases: ['old alias'], status: 'inferred' })
    await go(page, `/beliefs/${id}`)
    await page.locator('.content', { hasText: 'What handled thing is.' }).waitFor()

    await page.keyboard.press('p')
    await page.getByRole('button', { name: 'Pinned' }).waitFor()
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('button', { name: 'Confirm' }).waitFor({ state: 'detached' })

    await page.keyboard.press('a')
    await page.keyboard.type('new alias')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove alias new alias' }).waitFor()
    await page.getByRole('button', { name: 'Remove alias old alias' }).click()
    await page.getByRole('button', { name: 'Remove alias old alias' }).waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Add alias' }).fill('???')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()

    const scope = page.getByRole('combobox', { name: 'Add scope' })
    await scope.fill('not a scope')
    await scope.press('Enter')
    await page.getByRole('alert').getByText('not a scope').waitFor()
    await scope.fill('project:website')
    await scope.press('Enter')
    await page.getByRole('button', { name: 'Remove scope project:website' }).waitFor()

    const belief = await dashboard.memoryAs().get(id)
    expect(belief).toMatchObject({ pinned: true, aliases: ['new alias'], status: 'active', editedByPerson: true })
    expect(belief.scopes).toContain('project:website')
  })

  it('corrects a belief, shows the chain of supersession, and leaves the old one unchanged', async () => {
    const id = await remembered('corrected thing')
    await go(page, `/beliefs/${id}`)
    await page.locator('.content', { hasText: 'What corrected thing is.' }).waitFor()

    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Correct this belief' })
    expect(await dialog.getByRole('button', { name: 'Replace' }).isDisabled()).toBe(true)
    await dialog.getByLabel('The current statement').fill('What it is since today.')
    await dialog.getByRole('button', { name: 'Replace' }).click()

    await page.locator('.content', { hasText: 'What it is since today.' }).waitFor()
    await page.locator('.chain-row').nth(1).waitFor()
    expect(await page.locator('.chain-row').first().textContent()).toContain('What it is since today.')
    expect(page.url()).not.toContain(id)
    await page.locator('.chain-row a').click()
    await page.locator('.content', { hasText: 'What corrected thing is.' }).waitFor()
    await sees(page, 'See the new version')
    expect(await page.getByRole('button', { name: 'Pin' }).count()).toBe(0)
    await eventually(() => page.locator('.timeline-step').count()).toBe(2)
  })

  it('resolves an open question with a decision', async () => {
    const id = await remembered('open thing', { type: 'open_question' })
    await go(page, `/beliefs/${id}`)

    await page.getByRole('button', { name: 'Settle' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the decision').fill('settled thing')
    await dialog.getByLabel('What was decided').fill('It is decided.')
    await dialog.getByRole('button', { name: 'Settle' }).click()

    await page.locator('.marks', { hasText: 'settled' }).waitFor()
    expect((await dashboard.memoryAs().get('settled thing')).content).toBe('It is decided.')
    // The history of the question contains the decision.
    await sees(page.locator('.facts', { hasText: 'settled by' }), 'settled thing')
  })

  it('asks before it forgets, lets the person keep the belief, and then erases it', async () => {
    const id = await remembered('forgotten thing')
    await go(page, `/beliefs/${id}`)
    await page.locator('.content', { hasText: 'What forgotten thing is.' }).waitFor()
    // Disables the delay before erasing: on a slow machine it might end before the click.
    await page.evaluate(
      'globalThis.usual = setTimeout; globalThis.setTimeout = (act, ms) => (ms >= 5000 ? 0 : usual(act, ms))',
    )

    await page.keyboard.press('f')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await page.locator('.forgetting').getByRole('button', { name: 'Keep it' }).click()
    await page.locator('.forgetting').waitFor({ state: 'detached' })
    expect((await dashboard.memoryAs().get(id)).name).toBe('forgotten thing')

    await page.keyboard.press('f')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await page.getByRole('button', { name: 'Forget now' }).click()
    await sees(page, 'Forgotten.')
    await missesNow(page.locator('.belief-rows'), 'forgotten thing')
    await expect(dashboard.memoryAs().get(id)).rejects.toThrow()
    expect(new URL(page.url()).pathname).toBe('/beliefs')
    await page.evaluate('globalThis.setTimeout = globalThis.usual')
  })

  it('forgets if the page is closed before the time to undo is over', async () => {
    const id = await remembered('hastily forgotten')
    const other = await dashboard.window(`/beliefs/${id}`)
    await other.locator('.content', { hasText: 'What hastily forgotten is.' }).waitFor()

    await other.keyboard.press('f')
    await other.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await other.goto('about:blank')

    await eventually(() =>
      dashboard
        .memoryAs()
        .get(id)
        .catch(() => 'gone'),
    ).toBe('gone')
  })

  it('stores a new belief, and explains a refusal', async () => {
    await go(page, '/beliefs')
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog', { name: 'New belief' })
    await dialog.getByLabel('Name', { exact: true }).fill('brand new')
    await dialog.getByLabel('What is true').fill('It was not known before.')
    await dialog.getByLabel('Scope').fill('nowhere')
    await dialog.getByRole('button', { name: 'Remember' }).click()
    await dialog.getByRole('alert').getByText('nowhere').waitFor()
    await dialog.getByLabel('Scope').fill('project:ledger')
    await dialog.getByLabel('Other names').fill('one name, another name')
    await dialog.getByRole('button', { name: 'Remember' }).click()

    await page.getByRole('heading', { level: 2, name: 'brand new' }).waitFor()
    await page.locator('.belief-row', { hasText: 'brand new' }).waitFor()
    expect(await dashboard.memoryAs().get('brand new')).toMatchObject({
      aliases: ['one name', 'another name'],
      scopes: ['project:ledger'],
      provenance: { actor: 'person', origin: 'dashboard' },
    })
  })

  it('shows a proposal next to the current belief, to accept or to reject', async () => {
    const agent = dashboard.memoryAs({ actor: 'agent', origin: 'some-agent' })
    await go(page, '/beliefs?show=proposals')
    await page.locator('.belief-row', { hasText: 'proposed' }).click()
    await page.locator('.word-diff del', { hasText: '17' }).waitFor()
    await page.locator('.word-diff ins', { hasText: '18' }).waitFor()
    await page.getByRole('link', { name: 'See the current belief' }).waitFor()

    await page.getByRole('button', { name: 'Reject' }).click()
    await sees(page, /Rejected “[^”]+”\./)
    await page.locator('.toast', { hasText: 'Rejected “' }).getByRole('button', { name: 'Undo' }).click()
    await sees(page, '1 proposal waiting')
    expect(await page.getByRole('link', { name: 'See the current belief' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.locator('.content', { hasText: 'Postgres 18' }).waitFor()
    expect((await dashboard.memoryAs().get('Postgres')).content).toBe('The ledger is kept in Postgres 18.')

    await agent.correct(await idOf('Redis'), { content: 'Sessions are cached in Valkey.' })
    await page.locator('.side-link .badge', { hasText: '1' }).waitFor()
  })

  it('shows a proposal to remove a belief as one, and removes it when accepted', async () => {
    const memory = dashboard.memoryAs()
    await memory.remember({ name: 'mast height', content: 'The mast is 14 metres high.', scopes: ['project:ledger'] })
    const { ports, dir } = dashboard.server
    await syncMirror(ports, { dir, user: 'local' })
    const file = join(dir, 'MEMORY.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/.*\*\*mast height\*\*.*\n/u, ''))
    await syncMirror(ports, { dir, user: 'local' })
    await go(page, '/beliefs?show=proposals')
    await page.locator('.belief-row', { hasText: 'proposed removal' }).click()
    await page.locator('del', { hasText: 'The mast is 14 metres high.' }).waitFor()

    await page.getByRole('button', { name: 'Remove it' }).click()

    await sees(page, 'Removed. It is no longer recalled.')
    expect(await memory.get('mast height')).toMatchObject({ resolvedAt: expect.any(String) })
  })

  it('lists candidates from conversations, to confirm or to reject', async () => {
    const memory = dashboard.memoryAs()
    await memory.hear([{ text: 'I prefer walnut decks over teak.' }, { text: 'I prefer canvas sails.' }])
    await go(page, '/beliefs?show=candidates')
    await page.locator('.belief-row', { hasText: 'walnut decks' }).click()
    const waiting = page.getByRole('region', { name: 'Candidate' })
    await sees(waiting, 'It is not recalled until you confirm it.')

    await waiting.getByRole('button', { name: 'Confirm' }).click()
    await sees(page, 'Confirmed as your own.')
    await waiting.waitFor({ state: 'detached' })
    await page.locator('.belief-row', { hasText: 'canvas sails' }).click()
    await waiting.getByRole('button', { name: 'Reject' }).click()
    await sees(page, /Rejected “[^”]*canvas sails[^”]*”\./)
    await sees(page, 'Nothing is waiting for you')

    expect(await memory.candidates()).toEqual([])
    const { items } = await memory.find('walnut decks', { current: true })
    expect(items[0]?.belief).toMatchObject({ content: 'I prefer walnut decks over teak.', editedByPerson: true })
  })
})
