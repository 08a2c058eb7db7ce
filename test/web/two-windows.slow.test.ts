import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, missesNow, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('two windows that write at the same time', () => {
  let dashboard: Dashboard
  let mine: Page
  let theirs: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    mine = await dashboard.window()
    theirs = await dashboard.window()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const remembered = async (name: string, more: object = {}): Promise<string> => {
    const { belief } = await dashboard.memoryAs().remember({ name, content: `What ${name} is.`, ...more })
    return belief.id
  }
  const whyIn = async (page: Page, id: string, text: string): Promise<void> => {
    await go(page, `/beliefs/${id}`)
    await page.locator('.detail code', { hasText: id }).waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Why it matters').fill(text)
  }
  const conflict = (page: Page) => page.getByRole('dialog', { name: 'Changed in the meantime' })

  it('shows both texts if a second window saved first, and saves the chosen one', async () => {
    const id = await remembered('contested why', { why: 'as it was' })
    await whyIn(mine, id, 'my text')
    await whyIn(theirs, id, 'their text')
    await theirs.getByRole('button', { name: 'Save' }).click()
    await sees(theirs, 'Why changed.')
    await sees(mine, 'This belief was changed elsewhere while you were writing.')
    expect(await mine.getByLabel('Why it matters').inputValue()).toBe('my text')

    await mine.getByRole('button', { name: 'Save' }).click()
    await conflict(mine).getByText('their text').waitFor()
    await conflict(mine).getByText('my text').waitFor()
    expect((await dashboard.memoryAs().get(id)).why).toBe('their text')

    await conflict(mine).getByRole('button', { name: 'Keep editing' }).click()
    expect(await mine.getByLabel('Why it matters').inputValue()).toBe('my text')
    await mine.getByRole('button', { name: 'Save' }).click()
    await conflict(mine).getByRole('button', { name: 'Save mine' }).click()
    await mine.locator('.detail .prose', { hasText: 'my text' }).waitFor()
    expect((await dashboard.memoryAs().get(id)).why).toBe('my text')
    await theirs.locator('.detail .prose', { hasText: 'my text' }).waitFor()
  })

  it('takes the other text if that is chosen', async () => {
    const id = await remembered('given up why')
    await whyIn(mine, id, 'not this')
    await dashboard.memoryAs().setWhy(id, 'but this')

    await mine.getByRole('button', { name: 'Save' }).click()
    await conflict(mine).getByRole('button', { name: 'Take theirs' }).click()
    await mine.locator('.detail .prose', { hasText: 'but this' }).waitFor()
    expect((await dashboard.memoryAs().get(id)).why).toBe('but this')
  })

  it('keeps the typed text about a belief that was replaced or forgotten meanwhile', async () => {
    const replaced = await remembered('replaced meanwhile')
    await whyIn(mine, replaced, 'words about the old one')
    const { belief } = await dashboard.memoryAs().correct(replaced, { content: 'It is another thing now.' })
    await mine.getByRole('button', { name: 'Save' }).click()
    await conflict(mine).getByText('words about the old one').waitFor()
    expect(await conflict(mine).getByRole('button', { name: 'Save mine' }).count()).toBe(0)
    await conflict(mine).getByRole('link', { name: 'Go to the new version' }).click()
    await sees(mine, 'It is another thing now.')
    expect(mine.url()).toContain(belief.id)

    const forgotten = await remembered('forgotten meanwhile')
    await whyIn(mine, forgotten, 'words about what is gone')
    await dashboard.memoryAs().forget(forgotten)
    await sees(mine, 'This belief was forgotten or withdrawn elsewhere.')
    expect(await mine.getByLabel('Why it matters').inputValue()).toBe('words about what is gone')
    await mine.getByRole('button', { name: 'Save' }).click()
    await conflict(mine).getByText('words about what is gone').waitFor()
    await conflict(mine).getByRole('button', { name: 'Take theirs' }).click()
    await conflict(mine).waitFor({ state: 'detached' })
  })

  it('keeps a draft while another page is visited', async () => {
    const id = await remembered('long thought')
    await whyIn(mine, id, 'half a sentence')
    await go(mine, '/journal')
    await mine.getByRole('heading', { name: 'Journal' }).waitFor()
    await go(mine, `/beliefs/${id}`)
    await mine.getByLabel('Why it matters').waitFor()
    expect(await mine.getByLabel('Why it matters').inputValue()).toBe('half a sentence')
    await mine.getByRole('button', { name: 'Cancel' }).click()
  })

  it('shows the conflict over a correction, and loses neither', async () => {
    const id = await remembered('contested thing')
    await go(mine, `/beliefs/${id}`)
    await mine.locator('.content', { hasText: 'What contested thing is.' }).waitFor()
    await mine.keyboard.press('c')
    await mine.getByLabel('The current statement').fill('My correction.')
    await dashboard.memoryAs().correct(id, { content: 'Their correction.' })
    await mine.getByRole('button', { name: 'Replace' }).click()

    await conflict(mine).getByText('My correction.').waitFor()
    await conflict(mine).getByRole('button', { name: 'Keep editing' }).click()
    expect(await mine.getByLabel('The current statement').inputValue()).toBe('My correction.')
    await mine.keyboard.press('Escape')
    expect((await dashboard.memoryAs().get('contested thing')).content).toBe('Their correction.')
  })

  it('updates a long list in place: rows and the selection stay where they are', async () => {
    const lines = Array.from({ length: 120 }, (_, at) =>
      JSON.stringify({ name: `row ${String(at).padStart(3, '0')}`, content: 'One of many.', scopes: ['project:many'] }),
    )
    await dashboard.memoryAs().import(lines.join('\n'), { trusted: true })
    await go(mine, '/beliefs?scope=project%3Amany')
    await missesNow(mine.locator('.belief-rows'), 'Redis')
    await sees(mine, '120 beliefs')
    const rows = mine.locator('.belief-row')
    await rows.first().hover()
    await eventually(async () => {
      await rows.last().scrollIntoViewIfNeeded()
      await mine.mouse.wheel(0, 400)
      return rows.count()
    }).toBe(120)
    const names = mine.locator('.belief-name .clip')
    const before = await names.allTextContents()
    await rows.nth(60).locator('a').click()
    const chosen = before[60] as string
    await mine.getByRole('heading', { level: 2, name: chosen }).waitFor()

    await dashboard.memoryAs().pin(before[100] as string)
    await dashboard.memoryAs().forget(before[10] as string)
    await rows.nth(99).locator('.pin-sign').waitFor()
    expect(await names.allTextContents()).toEqual(before.filter((_, at) => at !== 10))
    expect(await mine.locator('.belief-link[aria-current=true] .belief-name .clip').textContent()).toBe(chosen)
  })
})
