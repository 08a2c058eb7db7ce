import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { generateBeliefs } from '../../bench/corpus.ts'
import { importRecords } from '../../src/memory/transfer/import.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, openTestDashboard } from './test-dashboard.ts'

const many = 3_000
const conversationCount = 1_000

describe.skipIf(noBrowser !== null)('many beliefs and turns', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    const records = [...generateBeliefs({ count: many, seed: 3 })].map((record, index) => ({
      place: `belief ${index}`,
      record,
    }))
    const author = { actor: 'person', origin: 'test' } as const
    await importRecords(dashboard.server.ports, { user: 'local', author, trusted: true }, records)
    const turns = Array.from({ length: 600 }, (_, at) => ({
      text: `Turn ${at} of the long talk.`,
      session: 'long',
      at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(),
    }))
    await dashboard.memoryAs().hear(turns)
    const openings = Array.from({ length: conversationCount }, (_, at) => ({
      text: `Begin of talk ${at}.`,
      session: `talk-${at}`,
      at: new Date(Date.UTC(2026, 1, 1, 0, at * 10)).toISOString(),
    }))
    await dashboard.memoryAs().hear(openings, { learn: 'nothing' })
    page = await dashboard.window('/beliefs?sort=name')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const rows = () => page.locator('.belief-row').count()
  const scrollTo = (depth: string) =>
    page.evaluate(`(() => { const list = document.querySelector('.list-pane'); list.scrollTop = ${depth} })()`)

  it('loads more while scrolling, and continues from the chosen belief', async () => {
    await page.locator('.belief-row').first().waitFor()
    expect(await rows()).toBeLessThanOrEqual(200)
    const first = await page.locator('.belief-name').first().textContent()
    await eventually(async () => {
      await scrollTo('list.scrollHeight')
      return rows()
    }).toBeGreaterThanOrEqual(1_000)
    expect(await page.evaluate<number>(`document.querySelector('.list-pane').scrollHeight`)).toBeGreaterThan(70_000)

    await page.locator('.belief-row').nth(20).locator('a').click()
    await page.locator('.detail .content').waitFor()
    await page.keyboard.press('j')
    await eventually(() => page.locator('.belief-link[aria-current=true]').count()).toBe(1)
    await scrollTo('0')
    await page
      .locator('.belief-name', { hasText: first as string })
      .first()
      .waitFor()
    // The next belief is the one after the selected one, not after the first visible one.
    const chosen = page.url()
    await page.keyboard.press('j')
    await eventually(() => page.url()).not.toBe(chosen)
    await eventually(() =>
      page.evaluate<boolean>(`document.activeElement?.matches('.belief-link[aria-current=true]') === true`),
    ).toBe(true)
  })

  it('reports that groups have only the loaded rows', async () => {
    await go(page, '/beliefs?group=type')
    await page.getByText(/^The groups contain the first \d+ of \d+ beliefs\./).waitFor()
  })

  it('filters all beliefs, not only the loaded ones', async () => {
    const last = [...generateBeliefs({ count: many, seed: 3 })].at(-1)?.name ?? ''
    await go(page, '/beliefs')
    await page.getByLabel('Search beliefs').fill(last)
    await page.locator('.belief-row', { hasText: last }).first().waitFor()
    await page.locator('.belief-row', { hasText: last }).first().click()
    await page.getByRole('heading', { level: 2, name: last }).waitFor()
  })

  it('opens a long conversation at a turn, and has few turns in the document at any scroll position', async () => {
    await go(page, '/conversations?q=Turn+450')
    await page.locator('.found-turn .belief-link', { hasText: 'Turn 450 ' }).first().click()
    await page.locator('.bubble.here', { hasText: 'Turn 450 ' }).waitFor()
    const inView = (selector: string) =>
      page.evaluate<boolean>(`(() => { const box = document.querySelector('${selector}').getBoundingClientRect()
        return box.top >= 0 && box.bottom <= innerHeight })()`)
    await eventually(() => inView('.bubble.here')).toBe(true)
    const bubbles = () => page.locator('.bubble').count()
    expect(await bubbles()).toBeLessThan(250)

    const scrollTalk = (depth: string) =>
      page.evaluate(
        `(() => { dispatchEvent(new WheelEvent('wheel')); const talk = document.querySelector('.item-pane'); talk.scrollTop = ${depth} })()`,
      )
    await scrollTalk('0')
    await page.locator('.bubble', { hasText: 'Turn 0 ' }).waitFor()
    await eventually(() => page.locator('.bubble', { hasText: 'Turn 450 ' }).count()).toBe(0)
    await eventually(async () => {
      await scrollTalk('talk.scrollHeight')
      return page.locator('.bubble', { hasText: 'Turn 599 ' }).count()
    }).toBe(1)
    await eventually(bubbles).toBeLessThan(250)
  })

  it('lists conversations by day, and loads only those in view', async () => {
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/conversations?')) asked.push(request.url())
    })
    await go(page, '/conversations')
    const rows = () => page.locator('.talks .belief-row').count()
    await page.locator('.talks .belief-row').first().waitFor()
    await eventually(rows).toBeLessThan(200)
    const last = 'Begin of talk 0.'
    expect(await page.locator('.talks .belief-row', { hasText: last }).count()).toBe(0)
    await eventually(async () => {
      await scrollTo('list.scrollHeight')
      return page.locator('.talks .belief-row', { hasText: last }).count()
    }).toBe(1)
    await eventually(rows).toBeLessThan(200)
    // Only a few pages of the list were loaded.
    expect(asked.length).toBeLessThan(conversationCount / 50)
  })
})
