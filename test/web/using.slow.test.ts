import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, openTestDashboard, sees } from './test-dashboard.ts'

/** Records every element that moves without an action of the person. */
const shifts = `
  globalThis.moved = []
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      globalThis.moved.push([value, ...sources.map(({ node }) => node?.className ?? '')])
  }).observe({ type: 'layout-shift', buffered: true })
`

describe.skipIf(noBrowser !== null)('the dashboard in use', () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await openTestDashboard()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const focused = (page: Page) =>
    page.evaluate<string>(
      '((one) => one.getAttribute("aria-label") || one.id || one.textContent.trim())(document.activeElement)',
    )
  const opened = async (page: Page, name: string): Promise<void> => {
    const { id } = await dashboard.memoryAs().get(name)
    await go(page, `/beliefs/${id}`)
    await page.getByRole('button', { name: 'Forget' }).waitFor()
  }

  it('can be used with the keyboard only, and shows the focus', async () => {
    const page = await dashboard.window('/beliefs')
    await page.locator('.belief-row').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to the page')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true)
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    await page.keyboard.press('6')
    await page.getByRole('heading', { name: 'Evaluation' }).waitFor()
    await eventually(() => page.title()).toBe('Evaluation – Credence')
    await page.keyboard.press('3')
    await page.locator('.belief-row').first().waitFor()
    await page.keyboard.press('j')
    // The key must work as soon as the belief is shown.
    await page.getByRole('button', { name: 'Forget' }).waitFor()
    await page.keyboard.press('f')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await eventually(() => focused(page)).toBe('Cancel')
    for (let at = 0; at < 6; at += 1) await page.keyboard.press('Tab')
    expect(
      await page.evaluate(
        'document.activeElement === document.body || document.activeElement.closest("dialog") !== null',
      ),
    ).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await eventually(() => page.evaluate('document.activeElement.closest(".belief-row") !== null')).toBe(true)
    await page.context().close()
  })

  it('returns the focus to the element that opened a dialog', async () => {
    const page = await dashboard.window('/beliefs')
    await opened(page, 'Redis')
    await page.getByRole('button', { name: 'Correct' }).press('Enter')
    await page.getByRole('dialog', { name: 'Correct this belief' }).waitFor()
    await eventually(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await page.keyboard.press('Escape')
    await eventually(() => focused(page)).toBe('Correct')

    await page.getByRole('button', { name: 'Edit' }).press('Enter')
    await page.getByRole('textbox', { name: 'Why it matters' }).waitFor()
    await eventually(() => page.evaluate('document.activeElement.tagName')).toMatch(/^(?:INPUT|TEXTAREA)$/)
    await page.keyboard.press('Escape')
    await eventually(() => focused(page)).toBe('Edit')

    await page.getByRole('button', { name: 'Remove alias session cache' }).press('Enter')
    await eventually(() => focused(page)).toBe('Add alias')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('button', { name: 'Remove alias session cache' }).waitFor()

    await page.context().close()
  })

  it('keeps the typed text while others change the same belief', async () => {
    const page = await dashboard.window('/beliefs')
    await opened(page, 'release day')
    await page.keyboard.press('c')
    await page.getByLabel('The current statement').fill('Releases go out when they are ready.')
    await dashboard.memoryAs().pin('release day')
    await page.locator('.belief-row', { hasText: 'release day' }).locator('.pin-sign').waitFor({ state: 'attached' })
    expect(await page.getByLabel('The current statement').inputValue()).toBe('Releases go out when they are ready.')
    await page.keyboard.press('Escape')
    await page.context().close()
  })

  it('keeps its state in the address: back, forward and reload show it again', async () => {
    const page = await dashboard.window('/beliefs?q=Postgres&type=decision')
    const rows = page.locator('.belief-row')
    await rows.locator('mark').first().waitFor()
    await rows.first().locator('a').click()
    await page.getByRole('heading', { level: 2, name: 'Postgres' }).waitFor()
    await eventually(() => page.title()).toBe('Postgres – Beliefs – Credence')
    await page.goBack()
    await sees(page, 'Choose a belief')
    expect(await page.getByLabel('Search beliefs').inputValue()).toBe('Postgres')
    await page.goForward()
    await page.getByRole('heading', { level: 2, name: 'Postgres' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 2, name: 'Postgres' }).waitFor()
    expect(await page.getByLabel('Search beliefs').inputValue()).toBe('Postgres')
    expect(await page.getByLabel('Type').inputValue()).toBe('decision')

    await go(page, '/recall')
    await page.getByRole('textbox', { name: 'Message' }).fill('What is the colour palette?')
    await page.locator('.chip', { hasText: 'project:website' }).click()
    await page.locator('.recalled-name', { hasText: 'colour palette' }).waitFor()
    await page.reload()
    await page.locator('.recalled-name', { hasText: 'colour palette' }).waitFor()
    expect(await page.locator('.chip[aria-pressed=true]').count()).toBe(3)
    expect(page.url()).toContain('website')
    expect(page.url()).not.toContain('palette')
    await page.context().close()
  })

  it('returns to the scroll position of a long page', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => JSON.stringify({ name: `line ${at}`, content: 'One of many.' }))
    await dashboard.memoryAs().import(lines.join('\n'), { trusted: true })
    const page = await dashboard.window('/beliefs', { viewport: { width: 360, height: 640 } })
    const row = page.locator('.belief-row').nth(30)
    await row.scrollIntoViewIfNeeded()
    const depth = await page.evaluate<number>('scrollY')
    expect(depth).toBeGreaterThan(500)
    await row.locator('a').click()
    await page.getByRole('button', { name: 'All beliefs' }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
    await page.goBack()
    await eventually(() => page.evaluate('Math.abs(scrollY)')).toBe(depth)
    await page.context().close()
  })

  it('keeps its layout while it loads', async () => {
    const page = await dashboard.window('/recall')
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/v1/beliefs?*current*', async (route) => {
      await answered
      await route.continue()
    })
    await page.keyboard.press('3')
    // Within the list, because skeleton rows of the page Recall may still be shown.
    await page.locator('.list-pane .skeleton-row').first().waitFor()
    const box = async (selector: string) => {
      const found = await page.locator(selector).first().boundingBox()
      return [found?.y, found?.height]
    }
    const before = await box('.list-pane .skeleton-row')
    answer()
    await page.locator('.belief-row').first().waitFor()
    expect(await box('.belief-row')).toEqual(before)
    await page.context().close()
  })

  it('moves nothing on any page when loaded data arrives', { timeout: 180_000 }, async () => {
    const { id } = await dashboard.memoryAs().get('Postgres')
    await dashboard.memoryAs().hear({ text: 'The harbour is closed on Mondays.', session: 'harbour' })
    const page = await dashboard.window('/journal')
    await page.addInitScript(shifts)
    for (const [path, ready] of [
      ['/', '.example'],
      ['/recall', '.rendered'],
      ['/beliefs', '.belief-row'],
      [`/beliefs/${id}`, '.timeline-step'],
      ['/review', '.review-card'],
      ['/conversations', '.belief-row'],
      ['/conversations/harbour', '.bubble'],
      ['/evaluation', '.pack-row'],
      ['/journal', '.journal-row'],
      ['/status', '.finding'],
    ] as const) {
      let answer = () => {}
      const answered = new Promise<void>((resolve) => {
        answer = resolve
      })
      const slow = /\/api\/v1\/(?!login|health|events)/
      await page.route(slow, async (route) => {
        await answered
        await route.continue()
      })
      await page.goto(`${dashboard.url}${path}`)
      await page.locator('h1:not(.only-narrow)').first().waitFor()
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      answer()
      await page.locator(ready).first().waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      await page.waitForLoadState('networkidle')
      // The observer reports moves with the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      expect({ path, moved: await page.evaluate('globalThis.moved') }).toEqual({ path, moved: [] })
      await page.unroute(slow)
    }
    await page.context().close()
  })

  it('moves nothing if the person prefers reduced motion', async () => {
    const page = await dashboard.window('/beliefs', { reducedMotion: 'reduce' })
    await opened(page, 'money')
    await page.keyboard.press('p')
    await page.locator('.toast').first().waitFor()
    const moving = await page.evaluate(
      `document.getAnimations().filter((one) => one.effect.getComputedTiming().activeDuration > 0).length`,
    )
    expect(moving).toBe(0)
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await sees(page, 'Undone.')
    await page.context().close()
  })
})
